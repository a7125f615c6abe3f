// expect: SC403 action=stalled certainty=observed
//
// The exec is destroyed in flight, which lets the launch come to its end: as yet it has not.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, input, SMALL, cudaMemcpyHostToDevice, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaGraphExecDestroy(exec));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(input, SMALL, FOREIGN));
}
