// expect: none
//
// A source with order DURING_API_CALL is the program's again when the call returns, also where it
// has one set of attributes for several copies.
#include "batch.h"

enum { COPIES = 5, BYTES = 3000 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *targets[COPIES];
    const void *sources[COPIES];
    size_t sizes[COPIES];
    unsigned char *block = (unsigned char *)filled_block(COPIES * BYTES, 0);
    for (int i = 0; i < COPIES; i++) {
        targets[i] = device_block(BYTES, 0);
        sources[i] = block + i * BYTES;
        fill(block + i * BYTES, BYTES, WANTED);
        sizes[i] = BYTES;
    }

    busy(stream);
    batch_copies(targets, sources, sizes, COPIES, cudaMemcpySrcAccessOrderDuringApiCall, stream);
    fill(block, COPIES * BYTES, FOREIGN);
    free(block);

    CHECK(cudaDeviceSynchronize());
    bool right = true;
    for (int i = 0; i < COPIES; i++)
        right = right && device_holds(targets[i], BYTES, WANTED);
    return finish(right);
}
