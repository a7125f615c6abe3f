// expect: SC502 action=stalled kind=device origin=cuMemAllocAsync direction=D2H event=cuMemFree_v2
// options: device=1
//
// cudaFree of memory that cudaMallocAsync has made waits for nothing: the download that is still to
// read it loses the context (719) on a GPU, or reads the next owner's data.
#include "twin.h"

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t other = new_stream();
    void *target = pinned_block(LARGE, 0);
    void *source = pinned_block(LARGE, WANTED);
    void *device = NULL;
    void *next = NULL;

    CHECK(cudaMallocAsync(&device, LARGE, other));
    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, other));
    CHECK(cudaStreamSynchronize(other));
    busy(down);
    CHECK(cudaMemcpyAsync(target, device, LARGE, cudaMemcpyDeviceToHost, down));
    if (fixed)
        CHECK(cudaStreamSynchronize(down));
    CHECK(cudaFree(device));
    CHECK(cudaMallocAsync(&next, LARGE, other));
    CHECK(cudaMemsetAsync(next, FOREIGN, LARGE, other));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, LARGE, WANTED));
}
