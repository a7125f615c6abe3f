// expect: SC501 action=ordered kind=device origin=cuMemAlloc_v2 direction=memset certainty=observed
// options: device=1
//
// cudaMemset of device memory returns before it is done, and a non-blocking stream fills the
// memory.
#include "twin.h"

int main(void)
{
    cudaStream_t before = blocking_stream();
    cudaStream_t up = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *device = device_block(SMALL, FOREIGN);

    busy(before);
    CHECK(cudaMemset(device, 0, SMALL));
    if (fixed)
        CHECK(cudaStreamSynchronize(cudaStreamLegacy));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
