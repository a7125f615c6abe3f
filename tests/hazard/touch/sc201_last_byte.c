// expect: SC201 action=stalled kind=pinned certainty=observed
//
// The last byte of a pinned source whose size is no whole number of pages.
#include "touch.h"

int main(void)
{
    const size_t bytes = SMALL + 100;
    cudaStream_t stream = new_stream();
    void *device = device_block(bytes, 0);
    void *source = pinned_block(bytes, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, bytes, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(source, bytes - 1);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, bytes, WANTED) && holds_poked(source, bytes, bytes - 1));
}
