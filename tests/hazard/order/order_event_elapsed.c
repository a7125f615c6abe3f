// expect: SC101 action=deferred kind=registered certainty=observed
//
// Established by cudaEventElapsedTime, which succeeds only when both events are complete. In the
// racy build it fails with cudaErrorNotReady, and the program does not look.
#include "twin.h"

int main(void)
{
    float ms = 0;
    cudaStream_t stream = new_stream();
    cudaEvent_t start = NULL;
    cudaEvent_t end = NULL;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    CHECK(cudaEventRecord(start, stream));
    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(end, stream));
    cudaError_t result = cudaEventElapsedTime(&ms, start, end);
    while (fixed && result == cudaErrorNotReady) {
        usleep(500);
        result = cudaEventElapsedTime(&ms, start, end);
    }
    if (result != (fixed ? cudaSuccess : cudaErrorNotReady))
        return 3;
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
