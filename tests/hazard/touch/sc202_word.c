// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A result of 8 bytes, alone on its pinned allocation.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(8, WANTED);
    void *result = pinned_block(8, 0);
    uint64_t wanted;
    fill(&wanted, sizeof wanted, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(result, device, 8, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    uint64_t got = *(volatile uint64_t *)result;

    CHECK(cudaDeviceSynchronize());
    return finish(got == wanted);
}
