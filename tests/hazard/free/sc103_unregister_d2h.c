// expect: SC103 kind=registered certainty=observed
//
// The target of an unfinished copy is unregistered, and read as soon as the call returns.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = registered_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaHostUnregister(target));
    bool right = holds(target, SMALL, WANTED);

    CHECK(cudaDeviceSynchronize());
    free(target);
    return finish(right);
}
