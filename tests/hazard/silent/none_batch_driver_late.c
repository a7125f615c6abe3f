// expect: none
// reported: wrong
// summary: driver_late=2
//
// Sources with order DURING_API_CALL are the program's again when the call returns, which it takes
// at its word: it fills one anew, and frees the other. The driver reads sources of more than 64 KB
// later all the same.
#include "batch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *targets[] = {device_block(LARGE, 0), device_block(4 * LARGE, 0), device_block(SMALL, 0)};
    void *small = filled_block(SMALL, WANTED);
    void *first = filled_block(LARGE, WANTED);
    void *second = filled_block(4 * LARGE, WANTED);
    const void *sources[] = {first, second, small};
    size_t sizes[] = {LARGE, 4 * LARGE, SMALL};

    busy(stream);
    batch_copies(targets, sources, sizes, 3, cudaMemcpySrcAccessOrderDuringApiCall, stream);
    fill(first, LARGE, FOREIGN);
    free(second);
    void *owner = filled_block(4 * LARGE, FOREIGN);
    fill(small, SMALL, FOREIGN);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(targets[0], LARGE, WANTED) &&
                  device_holds(targets[1], 4 * LARGE, WANTED) &&
                  device_holds(targets[2], SMALL, WANTED) && holds(first, LARGE, FOREIGN) &&
                  holds(owner, 4 * LARGE, FOREIGN));
}
