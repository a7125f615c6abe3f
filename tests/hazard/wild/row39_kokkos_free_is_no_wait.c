// expect: SC502 action=stalled kind=device origin=cuMemAllocAsync event=cuMemFree_v2
// options: device=1
//
// docs/wild-bugs.md, row 39: deallocate() relies on cudaFree to wait for the device. Since memory
// is made by cudaMallocAsync, the free waits for nothing.
#include "twin.h"

static void deallocate(void *memory)
{
    if (fixed)
        CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(memory));
}

int main(void)
{
    cudaStream_t stream = new_stream(), next_stream = new_stream();
    void *source = pinned_block(LARGE, WANTED);
    void *result = pinned_block(LARGE, 0);
    void *view = NULL, *next = NULL;

    CHECK(cudaMallocAsync(&view, LARGE, stream));
    CHECK(cudaMemcpyAsync(view, source, LARGE, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    busy(stream);
    CHECK(cudaMemcpyAsync(result, view, LARGE, cudaMemcpyDeviceToHost, stream));
    deallocate(view);
    CHECK(cudaMallocAsync(&next, LARGE, next_stream));
    CHECK(cudaMemsetAsync(next, FOREIGN, LARGE, next_stream));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(result, LARGE, WANTED));
}
