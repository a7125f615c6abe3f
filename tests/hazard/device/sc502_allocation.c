// expect: SC502 action=ordered kind=device origin=cuMemAllocAsync direction=allocation
// options: device=1
//
// Memory is used in another stream than the one that allocates it, before that stream gets there.
#include "twin.h"

int main(void)
{
    cudaStream_t allocator = new_stream();
    cudaStream_t user = new_stream();
    cudaEvent_t allocated = new_event();
    void *target = pinned_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    void *device = NULL;

    busy(allocator);
    CHECK(cudaMallocAsync(&device, SMALL, allocator));
    CHECK(cudaEventRecord(allocated, allocator));
    if (fixed)
        CHECK(cudaStreamWaitEvent(user, allocated, 0));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, user));
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, user));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, WANTED));
}
