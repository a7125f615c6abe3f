// expect: SC502 action=ordered origin=cuMemAllocFromPoolAsync direction=D2H event=cuMemFreeAsync
// options: device=1
//
// A pool of the program's own keeps what is freed. Memory of it is freed in one stream's order
// while another stream still has to read it, and the pool's next block is the same memory.
#include "pools.h"

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t downloaded = new_event();
    cudaMemPool_t pool = new_pool(UINT64_MAX);
    void *target = pinned_block(LARGE, 0);
    void *source = pinned_block(LARGE, WANTED);
    void *device = pool_block(LARGE, pool, other);

    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, other));
    CHECK(cudaStreamSynchronize(other));
    busy(down);
    CHECK(cudaMemcpyAsync(target, device, LARGE, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(downloaded, down));
    if (fixed)
        CHECK(cudaStreamWaitEvent(other, downloaded, 0));
    CHECK(cudaFreeAsync(device, other));
    void *next = pool_block(LARGE, pool, other);
    CHECK(cudaMemsetAsync(next, FOREIGN, LARGE, other));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, LARGE, WANTED));
}
