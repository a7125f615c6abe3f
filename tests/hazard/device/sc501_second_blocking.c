// expect: SC501 action=ordered kind=device origin=cuMemAlloc_v2 direction=memset
// options: device=1
//
// The second blocking stream is made when the first has work: with one alone, nothing in the
// process can be unordered.
#include "twin.h"

int main(void)
{
    cudaStream_t first = blocking_stream();
    void *target = pinned_block(SMALL, 0);
    void *device = device_block(SMALL, FOREIGN);

    busy(first);
    CHECK(cudaMemsetAsync(device, 7, SMALL, first));
    if (fixed)
        CHECK(cudaStreamSynchronize(first));
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, blocking_stream()));

    CHECK(cudaDeviceSynchronize());
    return finish(((unsigned char *)target)[0] == 7);
}
