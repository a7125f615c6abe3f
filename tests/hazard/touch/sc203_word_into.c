// expect: SC203 action=stalled kind=pinned certainty=observed
//
// A word is written that begins beside the destination of a copy, and ends in it: the copy
// overwrites its end.
#include "touch.h"

enum { BEFORE = 1000, BYTES = 1000 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, WANTED);
    unsigned char *block = (unsigned char *)pinned_block(BEFORE + BYTES, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(block + BEFORE, device, BYTES, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    *(volatile uint64_t *)(block + BEFORE - 4) = ~UINT64_C(0);

    CHECK(cudaStreamSynchronize(stream));
    bool right = block[BEFORE] == 0xFF && block[BEFORE + 3] == 0xFF;
    return finish(right && block[BEFORE + 4] == pattern(WANTED, 4));
}
