// expect: none
// options: device=1
//
// Memory of a pool is freed in a stream's order, and the pool gives it up: cudaMalloc may hand out
// the same addresses, which other streams use as they like.
#include "twin.h"

enum { ROUNDS = 20 };

int main(void)
{
    cudaStream_t pooled = new_stream();
    cudaStream_t other = new_stream();
    cudaMemPool_t pool = NULL;
    void *source = pinned_block(SMALL, WANTED);
    bool right = true;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    for (unsigned round = 0; round < ROUNDS; round++) {
        void *first = NULL, *second = NULL;
        CHECK(cudaMallocAsync(&first, SMALL, pooled));
        CHECK(cudaMemcpyAsync(first, source, SMALL, cudaMemcpyHostToDevice, pooled));
        CHECK(cudaStreamSynchronize(pooled));
        CHECK(cudaFreeAsync(first, pooled));
        CHECK(cudaMemPoolTrimTo(pool, 0));
        CHECK(cudaMalloc(&second, SMALL));
        CHECK(cudaMemcpyAsync(second, source, SMALL, cudaMemcpyHostToDevice, other));
        CHECK(cudaStreamSynchronize(other));
        right = right && device_holds(second, SMALL, WANTED);
        CHECK(cudaFree(second));
    }
    return finish(right);
}
