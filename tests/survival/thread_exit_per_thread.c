// expect-exit: 0
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
//
// Many short-lived threads, each with its own default stream, which goes with the thread.
#include "survival.h"

#include <pthread.h>

enum { SIZE = 16 << 10 };

static void *device;
static unsigned char *pinned;

static void *copy(void *seed)
{
    unsigned char value = (unsigned char)(intptr_t)seed;
    memset(pinned, value, SIZE);
    CHECK(cudaMemcpyAsync(device, pinned, SIZE, cudaMemcpyHostToDevice, 0));
    CHECK(cudaStreamSynchronize(0));
    memset(pinned, 0, SIZE);
    CHECK(cudaMemcpyAsync(pinned, device, SIZE, cudaMemcpyDeviceToHost, 0));
    CHECK(cudaStreamSynchronize(0));
    return pinned[SIZE - 1] == value ? NULL : seed;
}

int main(void)
{
    int wrong = 0;
    CHECK(cudaMalloc(&device, SIZE));
    CHECK(cudaMallocHost((void **)&pinned, SIZE));
    for (intptr_t i = 1; i <= 200; i++) {
        pthread_t thread;
        void *result = NULL;
        CHECK(pthread_create(&thread, NULL, copy, (void *)i));
        pthread_join(thread, &result);
        wrong += result != NULL;
    }
    CHECK(cudaFreeHost(pinned));
    printf("wrong: %d of 200\n", wrong);
    return 0;
}
