// expect: SC201 action=stalled kind=pinned certainty=observed
//
// Vector stores, one of which lies across the end of a page.
#include "touch.h"

typedef uint64_t vector __attribute__((vector_size(16), aligned(1)));

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    unsigned char *source = (unsigned char *)pinned_block(SMALL, WANTED);
    vector ones = {~(uint64_t)0, ~(uint64_t)0};

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    for (size_t at = 4096 - 24; at < 4096 + 64; at += sizeof ones)
        *(volatile vector *)(source + at) = ones;

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && source[4095] == 255 &&
                  source[4096] == 255);
}
