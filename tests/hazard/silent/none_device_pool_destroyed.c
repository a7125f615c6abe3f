// expect: none
// options: device=1
//
// Pools are destroyed while memory of them is out and in use. It stays until it is freed: in order,
// or by cudaFree behind a wait of the host. The device's default pool is there for whoever set
// another.
#include "pools.h"

enum { BLOCKS = 4 };

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t down = new_stream();
    cudaEvent_t done = new_event();
    cudaMemPool_t pool = new_pool(UINT64_MAX);
    void *source = pinned_block(SMALL, WANTED);
    void *targets[BLOCKS], *blocks[BLOCKS];
    void *next = NULL;
    bool right = true;

    CHECK(cudaDeviceSetMemPool(0, pool));
    for (unsigned i = 0; i < BLOCKS; i++) {
        targets[i] = pinned_block(SMALL, 0);
        CHECK(cudaMallocAsync(&blocks[i], SMALL, up));
    }
    busy(up);
    for (unsigned i = 0; i < BLOCKS; i++)
        CHECK(cudaMemcpyAsync(blocks[i], source, SMALL, cudaMemcpyHostToDevice, up));
    CHECK(cudaMemPoolDestroy(pool));
    CHECK(cudaEventRecord(done, up));
    CHECK(cudaStreamWaitEvent(down, done, 0));
    for (unsigned i = 0; i < BLOCKS; i++)
        CHECK(cudaMemcpyAsync(targets[i], blocks[i], SMALL, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(done, down));
    CHECK(cudaStreamWaitEvent(up, done, 0));
    CHECK(cudaFreeAsync(blocks[0], up));
    CHECK(cudaFreeAsync(blocks[1], down));
    CHECK(cudaMallocAsync(&next, SMALL, up));
    CHECK(cudaMemsetAsync(next, FOREIGN, SMALL, up));
    CHECK(cudaStreamSynchronize(down));
    CHECK(cudaFree(blocks[2]));
    CHECK(cudaFree(blocks[3]));
    CHECK(cudaFreeAsync(next, up));

    CHECK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < BLOCKS; i++)
        right = right && holds(targets[i], SMALL, WANTED);
    return finish(right);
}
