// expect: SC101 action=deferred kind=registered certainty=observed
// not-by: threads ranges
//
// The per-thread default stream by its handle, in a program built for the legacy one.
#include "twin.h"

int main(void)
{
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(cudaStreamPerThread);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, cudaStreamPerThread));
    if (fixed) {
        CHECK(cudaStreamSynchronize(cudaStreamPerThread));
        CHECK(cudaHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
