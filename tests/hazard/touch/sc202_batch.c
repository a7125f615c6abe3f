// expect: SC202 action=stalled kind=pinned certainty=observed
//
// The second of two destinations of a batch copy is read.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *targets[] = {pinned_block(SMALL, 0), pinned_block(SMALL, 0)};
    const void *sources[] = {device_block(SMALL, WANTED), device_block(SMALL, WANTED)};
    size_t sizes[] = {SMALL, SMALL};
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    size_t first = 0;

    busy(stream);
    CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, 2, &order, &first, 1, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = holds(targets[1], SMALL, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right && holds(targets[0], SMALL, WANTED));
}
