// expect: SC203 action=stalled kind=pinned certainty=observed
//
// A counter of 8 bytes is set back to zero for the next turn while the last count still arrives.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(8, WANTED);
    volatile uint64_t *count = (volatile uint64_t *)pinned_block(8, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync((void *)(uintptr_t)count, device, 8, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    *count = 0;

    CHECK(cudaDeviceSynchronize());
    return finish(*count == 0);
}
