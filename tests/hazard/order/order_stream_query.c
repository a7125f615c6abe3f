// expect: SC101 action=deferred kind=registered certainty=observed
//
// Established by polling cudaStreamQuery until it succeeds. The racy build polls once.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    cudaError_t result = cudaStreamQuery(stream);
    while (fixed && result == cudaErrorNotReady) {
        usleep(500);
        result = cudaStreamQuery(stream);
    }
    if (result != (fixed ? cudaSuccess : cudaErrorNotReady))
        return 3;
    if (fixed)
        CHECK(cudaHostUnregister(source));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
