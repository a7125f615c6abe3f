// expect: SC203 action=stalled kind=pinned certainty=observed
//
// The last byte of a pinned destination whose size is no whole number of pages.
#include "touch.h"

int main(void)
{
    const size_t bytes = SMALL + 100;
    cudaStream_t stream = new_stream();
    void *device = device_block(bytes, WANTED);
    void *target = pinned_block(bytes, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, bytes, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(target, bytes - 1);

    CHECK(cudaDeviceSynchronize());
    return finish(holds_poked(target, bytes, bytes - 1));
}
