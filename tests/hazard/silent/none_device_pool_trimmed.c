// expect: none
// options: device=1
//
// Pools of the program's own give memory up whose free is in order, and is still to come: one is
// trimmed, one is destroyed. cudaMalloc, another pool and a new one may hand out the same
// addresses, which other streams use as they like.
#include "pools.h"

enum { ROUNDS = 6 };

/* Freed in order behind what a busy stream does there. */
static void used_and_freed(cudaMemPool_t pool, void *source, cudaStream_t stream)
{
    void *device = pool_block(SMALL, pool, stream);
    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaFreeAsync(device, stream));
}

static bool used_elsewhere(void *device, void *source, cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    return device_holds(device, SMALL, WANTED);
}

int main(void)
{
    cudaStream_t pooled = new_stream();
    cudaStream_t other = new_stream();
    cudaMemPool_t kept = new_pool(UINT64_MAX);
    void *source = pinned_block(SMALL, WANTED);
    bool right = true;

    for (unsigned round = 0; round < ROUNDS; round++) {
        cudaMemPool_t passing = new_pool(round % 2 ? UINT64_MAX : 0);
        void *block = NULL;
        used_and_freed(passing, source, pooled);
        CHECK(cudaMemPoolDestroy(passing));
        CHECK(cudaStreamSynchronize(pooled));
        CHECK(cudaMalloc(&block, SMALL));
        right = right && used_elsewhere(block, source, other);
        CHECK(cudaFree(block));

        used_and_freed(kept, source, pooled);
        CHECK(cudaMemPoolTrimTo(kept, 0));
        CHECK(cudaMallocAsync(&block, SMALL, other)); /* of the default pool */
        right = right && used_elsewhere(block, source, other);
        CHECK(cudaFreeAsync(block, other));
    }
    CHECK(cudaMemPoolDestroy(kept));
    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
