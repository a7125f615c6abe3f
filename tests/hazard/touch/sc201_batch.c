// expect: SC201 action=stalled kind=pinned certainty=observed
//
// The second of two sources of a batch copy is refilled.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *targets[] = {device_block(SMALL, 0), device_block(SMALL, 0)};
    void *sources[] = {pinned_block(SMALL, WANTED), pinned_block(SMALL, WANTED)};
    const void *from[] = {sources[0], sources[1]};
    size_t sizes[] = {SMALL, SMALL};
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    size_t first = 0;

    busy(stream);
    CHECK(cudaMemcpyBatchAsync(targets, from, sizes, 2, &order, &first, 1, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(sources[1], SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(targets[0], SMALL, WANTED) &&
                  device_holds(targets[1], SMALL, WANTED));
}
