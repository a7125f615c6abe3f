// expect: SC403 action=stalled certainty=observed
//
// Established by a synchronous copy to the host on the legacy stream, which waits for blocking
// streams. The racy build launches on a non-blocking one.
#include "graphs.h"

int main(void)
{
    unsigned char probe = 0;
    cudaStream_t stream = NULL;
    CHECK(cudaStreamCreateWithFlags(&stream, fixed ? cudaStreamDefault : cudaStreamNonBlocking));
    void *device = device_block(SMALL, 0);
    void *elsewhere = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, input, SMALL, cudaMemcpyHostToDevice, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaMemcpy(&probe, elsewhere, 1, cudaMemcpyDeviceToHost));
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
