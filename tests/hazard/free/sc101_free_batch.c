// expect: SC101 action=deferred kind=registered certainty=observed
//
// One batch of four copies in stream order; the last of its four sources is freed at once.
#include "twin.h"

enum { COPIES = 4 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *targets[COPIES];
    const void *sources[COPIES];
    size_t sizes[COPIES];
    void *last = NULL;
    for (int i = 0; i < COPIES; i++) {
        targets[i] = device_block(SMALL, 0);
        sources[i] = last = registered_block(SMALL, WANTED);
        sizes[i] = SMALL;
    }
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    size_t first = 0;

    busy(stream);
    CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, COPIES, &order, &first, 1, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(last));
    }
    free(last);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    bool right = holds(owner, SMALL, FOREIGN);
    for (int i = 0; i < COPIES; i++)
        right = right && device_holds(targets[i], SMALL, WANTED);
    return finish(right);
}
