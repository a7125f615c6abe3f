// expect: SC101 action=deferred kind=registered certainty=observed
// not-by: ranges
//
// The copy runs on the legacy stream, behind a blocking stream that is busy: the legacy stream
// waits for it. Nothing waits for the copy before the free.
#include "twin.h"

int main(void)
{
    cudaStream_t blocking = NULL;
    CHECK(cudaStreamCreate(&blocking));
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(blocking);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, cudaStreamLegacy));
    if (fixed) {
        CHECK(cudaStreamSynchronize(cudaStreamLegacy));
        CHECK(cudaHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
