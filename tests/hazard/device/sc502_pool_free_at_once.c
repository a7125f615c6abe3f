// expect: SC502 action=stalled origin=cuMemAllocFromPoolAsync direction=D2H event=cuMemFree_v2
// options: device=1
//
// cudaFree of memory of the program's own pool waits for nothing, no more than of cudaMallocAsync's
// memory. The pool has been destroyed by then, which changes nothing: memory that is out lives
// until it is freed.
#include "pools.h"

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t other = new_stream();
    cudaMemPool_t pool = new_pool(UINT64_MAX);
    void *target = pinned_block(LARGE, 0);
    void *source = pinned_block(LARGE, WANTED);
    void *device = pool_block(LARGE, pool, other);
    void *next = NULL;

    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, other));
    CHECK(cudaStreamSynchronize(other));
    busy(down);
    CHECK(cudaMemcpyAsync(target, device, LARGE, cudaMemcpyDeviceToHost, down));
    CHECK(cudaMemPoolDestroy(pool));
    if (fixed)
        CHECK(cudaStreamSynchronize(down));
    CHECK(cudaFree(device));
    CHECK(cudaMallocAsync(&next, LARGE, other));
    CHECK(cudaMemsetAsync(next, FOREIGN, LARGE, other));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, LARGE, WANTED));
}
