// expect: SC502 action=ordered origin=cuMemAllocFromPool*_ptsz direction=D2H event=cuMemFree*_ptsz
// options: device=1
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
//
// Memory of a pool is allocated and freed in the default stream of the thread, while another stream
// still has to read it.
#include "pools.h"

int main(void)
{
    cudaStream_t down = new_stream();
    cudaEvent_t downloaded = new_event();
    cudaMemPool_t pool = new_pool(UINT64_MAX);
    void *target = pinned_block(LARGE, 0);
    void *source = pinned_block(LARGE, WANTED);
    void *device = pool_block(LARGE, pool, NULL);

    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, NULL));
    CHECK(cudaStreamSynchronize(NULL));
    busy(down);
    CHECK(cudaMemcpyAsync(target, device, LARGE, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(downloaded, down));
    if (fixed)
        CHECK(cudaStreamWaitEvent(NULL, downloaded, 0));
    CHECK(cudaFreeAsync(device, NULL));
    void *next = pool_block(LARGE, pool, NULL);
    CHECK(cudaMemsetAsync(next, FOREIGN, LARGE, NULL));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, LARGE, WANTED));
}
