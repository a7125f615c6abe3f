// run: strict=1 -> coverage.missed=1600 hazards=0
// run: mode=report -> coverage.missed=1600 hazards=0
/* Eight threads around the wrappers, while others come through them. */
#include <pthread.h>

#include "around.h"

enum { THREADS = 8, ROUNDS = 100 };

static void *run(void *argument)
{
    cudaStream_t own;
    void *host, *memory;
    int goes_around = *(int *)argument < THREADS;
    CUDA(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    CUDA(cudaMallocHost(&host, BYTES));
    CUDA(cudaMalloc(&memory, BYTES));
    for (int i = 0; i < ROUNDS; i++) {
        if (goes_around) {
            CUDA(direct.copy((CUdeviceptr)(uintptr_t)memory, host, BYTES, own));
            CUDA(direct.copy_back(host, (CUdeviceptr)(uintptr_t)memory, BYTES, own));
            CUDA(direct.synchronize(own));
        } else {
            CUDA(cudaMemcpyAsync(memory, host, BYTES, cudaMemcpyHostToDevice, own));
            CUDA(cudaMemcpyAsync(host, memory, BYTES, cudaMemcpyDeviceToHost, own));
            CUDA(cudaStreamSynchronize(own));
        }
    }
    CUDA(cudaFreeHost(host));
    return NULL;
}

int main(void)
{
    pthread_t threads[2 * THREADS];
    int numbers[2 * THREADS];
    set_up();
    go_around();
    for (int i = 0; i < 2 * THREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, run, &numbers[i]) == 0);
    }
    for (int i = 0; i < 2 * THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
