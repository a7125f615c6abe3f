// expect: SC203 action=stalled kind=pinned certainty=observed
//
// A vector store across the end of a page.
#include "touch.h"

typedef uint64_t vector __attribute__((vector_size(16), aligned(1)));

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    unsigned char *target = (unsigned char *)pinned_block(SMALL, 0);
    vector ones = {~(uint64_t)0, ~(uint64_t)0};

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    *(volatile vector *)(target + 4096 - 8) = ones;

    CHECK(cudaDeviceSynchronize());
    return finish(target[4095] == 255 && target[4096] == 255);
}
