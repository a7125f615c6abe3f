// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A word is written that begins beside the source of a copy, and ends in it.
#include "touch.h"

enum { BEFORE = 1000 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    unsigned char *block = (unsigned char *)pinned_block(BEFORE + LARGE, 0);
    fill(block + BEFORE, LARGE, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, block + BEFORE, LARGE, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    *(volatile uint64_t *)(block + BEFORE - 4) = ~UINT64_C(0);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, LARGE, WANTED));
}
