// expect: none
// options: device=1
//
// A pool of the program's own, which keeps what is freed, and one that keeps nothing, hand memory
// out again: to the same stream, to one that waits for the free by an event, to any stream when the
// host has waited, and to one that nothing orders, which the driver orders by itself.
#include "pools.h"

enum { ROUNDS = 20 };

/* Uploads, downloads in another stream, and frees behind that. */
static void use(cudaMemPool_t pool, void *source, void *target, cudaStream_t stream,
                cudaStream_t down, cudaEvent_t done)
{
    void *device = pool_block(SMALL, pool, stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(done, stream));
    CHECK(cudaStreamWaitEvent(down, done, 0));
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(done, down));
    CHECK(cudaStreamWaitEvent(stream, done, 0));
    CHECK(cudaFreeAsync(device, stream));
}

int main(void)
{
    cudaStream_t streams[] = {new_stream(), new_stream(), blocking_stream()};
    cudaEvent_t done = new_event();
    cudaEvent_t freed = new_event();
    cudaMemPool_t pools[] = {new_pool(UINT64_MAX), new_pool(0)};
    void *source = pinned_block(SMALL, WANTED);
    void *targets[ROUNDS];
    bool right = true;

    for (unsigned round = 0; round < ROUNDS; round++) {
        cudaStream_t stream = streams[round % 3];
        targets[round] = pinned_block(SMALL, 0);
        if (round % 7 == 6)
            CHECK(cudaDeviceSynchronize());
        else if (round % 2)
            CHECK(cudaStreamWaitEvent(stream, freed, 0));
        busy(stream);
        use(pools[round / 2 % 2], source, targets[round], stream, streams[(round + 1) % 3], done);
        use(pools[round / 2 % 2], source, targets[round], stream, streams[(round + 1) % 3], done);
        CHECK(cudaEventRecord(freed, stream));
    }
    CHECK(cudaDeviceSynchronize());
    for (unsigned round = 0; round < ROUNDS; round++)
        right = right && holds(targets[round], SMALL, WANTED);
    return finish(right);
}
