// expect: SC105 action=deferred kind=pinned certainty=observed
//
// docs/wild-bugs.md, row 5: a pinned pool whose deallocate takes a stream. Blocks of the pool go
// back in stream order; once the pool is full a block comes from cudaMallocHost and goes straight
// to cudaFreeHost, with its copy in flight.
#include "twin.h"

struct pool {
    void *block;
    bool taken;
};

static void *pool_allocate(struct pool *pool)
{
    if (pool->taken)
        return pinned_block(SMALL, 0);
    pool->taken = true;
    return pool->block;
}

static void pool_deallocate(struct pool *pool, void *block, cudaStream_t stream)
{
    if (block == pool->block) {
        pool->taken = false;
        return;
    }
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeHost(block));
}

int main(void)
{
    struct pool pool = {.block = pinned_block(SMALL, 0), .taken = false};
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *first = pool_allocate(&pool);
    void *second = pool_allocate(&pool);
    fill(second, SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, second, SMALL, cudaMemcpyHostToDevice, stream));
    pool_deallocate(&pool, second, stream);
    pool_deallocate(&pool, first, stream);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
