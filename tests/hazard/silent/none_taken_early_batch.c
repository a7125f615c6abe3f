// expect: none
// summary: taken_early=1
//
// A batch of one small copy takes its source as early as a single copy does.
#include "early.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *device = device_block(EARLY, 0);
    void *source = pinned_block(EARLY, FOREIGN);
    const void *from = source;
    size_t size_bytes = EARLY;
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    size_t first = 0;
    CHECK(cudaLaunchHostFunc(cudaStreamLegacy, fill_late, source));
    CHECK(cudaMemcpyBatchAsync(&device, &from, &size_bytes, 1, &order, &first, 1, stream));
    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, EARLY, WANTED));
}
