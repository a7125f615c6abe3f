// expect: SC502 action=ordered origin=cuMemAllocFromPoolAsync direction=D2H event=cuMemFreeAsync
// options: device=1
//
// A pool is destroyed while memory of it is out, which is correct. Then the memory is freed in the
// order of a stream that does not come after the one that reads it, and other memory lies there.
#include "pools.h"

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t downloaded = new_event();
    cudaMemPool_t pool = new_pool(0);
    void *target = pinned_block(LARGE, 0);
    void *source = pinned_block(LARGE, WANTED);
    void *device = pool_block(LARGE, pool, other);

    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, other));
    CHECK(cudaStreamSynchronize(other));
    busy(down);
    CHECK(cudaMemcpyAsync(target, device, LARGE, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(downloaded, down));
    CHECK(cudaMemPoolDestroy(pool));
    if (fixed)
        CHECK(cudaStreamWaitEvent(other, downloaded, 0));
    CHECK(cudaFreeAsync(device, other));
    void *next = NULL;
    CHECK(cudaMallocAsync(&next, LARGE, other));
    CHECK(cudaMemsetAsync(next, FOREIGN, LARGE, other));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, LARGE, WANTED));
}
