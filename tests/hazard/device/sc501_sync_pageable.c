// expect: SC501 action=ordered kind=device origin=cuMemAlloc_v2 direction=H2D
// options: device=1
//
// A synchronous upload out of pageable memory may return before it has landed. A non-blocking
// stream uses the device memory at once.
#include "twin.h"

int main(void)
{
    cudaStream_t down = new_stream();
    void *source = filled_block(4096, WANTED);
    void *target = pinned_block(4096, 0);
    void *device = device_block(4096, FOREIGN);

    CHECK(cudaMemcpy(device, source, 4096, cudaMemcpyHostToDevice));
    if (fixed)
        CHECK(cudaStreamSynchronize(cudaStreamLegacy));
    CHECK(cudaMemcpyAsync(target, device, 4096, cudaMemcpyDeviceToHost, down));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, 4096, WANTED));
}
