// inject: 1
// run: strict=1 SIM_GPU=delay=0 -> hazards=0
// run: mode=report SIM_GPU=delay=0 -> hazards=0
/* Threads take memory from one pool and give it back, without the preload: as soon as the driver
 * has it, and before the library hears of that, another thread may have it and work there. */
#include "profiler.h"

#include <pthread.h>

enum { THREADS = 12, ROUNDS = 5000 };

static void *work(void *unused)
{
    cudaStream_t own;
    void *memory;
    CUDA(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    for (int round = 0; round < ROUNDS; round++) {
        CUDA(cudaMallocAsync(&memory, BYTES, own));
        CUDA(cudaMemsetAsync(memory, 0, BYTES, own));
        CUDA(cudaStreamSynchronize(own));
        CUDA(round % 2 ? cudaFree(memory) : cudaFreeAsync(memory, own));
    }
    CUDA(cudaStreamSynchronize(own));
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
