// expect: SC101 action=deferred kind=pageable certainty=observed
//
// docs/wild-bugs.md, row 1: column buffers in pageable memory go up in one batch with source access
// order ANY and are freed as soon as the call returns. From 1 MB on the driver reads them later, in
// a thread of its own, which dies if they are unmapped.
#include "twin.h"

enum { COLUMNS = 4 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *targets[COLUMNS];
    void *columns[COLUMNS];
    const void *sources[COLUMNS];
    size_t sizes[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        targets[i] = device_block(LARGE, 0);
        sources[i] = columns[i] = filled_block(LARGE, WANTED);
        sizes[i] = LARGE;
    }
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderAny};
    size_t first = 0;

    busy(stream);
    CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, COLUMNS, &order, &first, 1, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < COLUMNS; i++)
        free(columns[i]);

    void *owner = filled_block(LARGE, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    bool right = holds(owner, LARGE, FOREIGN);
    for (int i = 0; i < COLUMNS; i++)
        right = right && device_holds(targets[i], LARGE, WANTED);
    return finish(right);
}
