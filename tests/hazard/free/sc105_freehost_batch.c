// expect: SC105 action=deferred kind=pinned certainty=observed
//
// A batch copy, one direction each way: the pinned target of the second copy is freed under it.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *other = device_block(SMALL, FOREIGN);
    void *source = pinned_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    void *targets[] = {device, target};
    const void *sources[] = {source, other};
    size_t sizes[] = {SMALL, SMALL};
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    size_t first = 0;

    busy(stream);
    CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, 2, &order, &first, 1, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeHost(target));

    CHECK(cudaDeviceSynchronize());
    bool right = device_holds(device, SMALL, WANTED) && holds(source, SMALL, WANTED);
    CHECK(cudaFreeHost(source));
    return finish(right);
}
