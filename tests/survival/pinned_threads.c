// expect-exit: 0
//
// Threads take, fill, copy and give back pinned memory of all sizes at once; every byte arrives.
#include "survival.h"

#include <pthread.h>

enum { THREADS = 6, ROUNDS = 60, MOST = 3 << 20 };

static size_t next(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 8;
}

static size_t any_size(unsigned *seed)
{
    static const size_t most[] = {64, 5000, 65536, 300000, MOST, MOST};
    return 1 + next(seed) % most[next(seed) % 6];
}

static void one_round(unsigned *seed, void *device, cudaStream_t stream)
{
    void *up = NULL;
    void *down = NULL;
    size_t bytes = any_size(seed);
    unsigned flags = next(seed) & 7;
    CHECK(cudaHostAlloc(&up, bytes, flags));
    CHECK(cudaMallocHost(&down, bytes));
    memset(up, (int)next(seed) | 1, bytes);
    CHECK(cudaMemcpyAsync(device, up, bytes, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(down, device, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    if (memcmp(up, down, bytes) != 0)
        abort();
    CHECK(cudaFreeHost(up));
    CHECK(cudaFreeHost(down));
}

static void *work(void *argument)
{
    unsigned seed = (unsigned)(uintptr_t)argument;
    void *device = NULL;
    cudaStream_t stream = NULL;
    CHECK(cudaMalloc(&device, MOST + 1));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < ROUNDS; i++)
        one_round(&seed, device, stream);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device));
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1)) != 0)
            return 3;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("all right\n");
    return 0;
}
