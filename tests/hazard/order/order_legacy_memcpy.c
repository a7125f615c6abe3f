// expect: SC101 action=deferred kind=registered certainty=observed
//
// Established by a synchronous copy to the host on the legacy stream, which waits for blocking
// streams. The racy build's stream is a non-blocking one, which it does not wait for.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = NULL;
    unsigned char probe = 0;
    CHECK(cudaStreamCreateWithFlags(&stream, fixed ? cudaStreamDefault : cudaStreamNonBlocking));
    void *device = device_block(SMALL, 0);
    void *elsewhere = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpy(&probe, elsewhere, 1, cudaMemcpyDeviceToHost));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
