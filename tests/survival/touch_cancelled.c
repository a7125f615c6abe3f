// expect-exit: 0
// timeout: 60
// strict-may-say: a_thread_has_SIGSEGV_blocked
//
// Threads that only compute, and may be cancelled at any instruction, on bytes beside those of
// copies that come and go: wherever one is taken away, the rest goes on.
#include "survival.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ROUNDS = 300, WORKERS = 3, COPIERS = 2, PAGE = 4096, PAGES = 4 };

static unsigned char *pages;
static void *device;
static atomic_bool stop;
static atomic_uint begun;

static void *compute(void *which)
{
    unsigned char *slot = pages + PAGE / 2 + 64 * (uintptr_t)which;
    int former;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &former);
    atomic_fetch_add(&begun, 1);
    for (unsigned i = 0;; i++)
        (*(volatile unsigned char *)(slot + (size_t)PAGE * (i % PAGES)))++;
    return NULL;
}

static void *copy(void *which)
{
    cudaStream_t stream;
    unsigned char *slot = pages + 64 * (uintptr_t)which;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (unsigned i = 0; !atomic_load(&stop); i++) {
        CHECK(cudaMemcpyAsync(slot + (size_t)PAGE * (i % PAGES), device, 64, cudaMemcpyDeviceToHost,
                              stream));
        if (i % 2)
            CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    return NULL;
}

static void cancel_some(unsigned round)
{
    pthread_t workers[WORKERS];
    atomic_store(&begun, 0);
    for (uintptr_t i = 0; i < WORKERS; i++)
        CHECK(pthread_create(&workers[i], NULL, compute, (void *)i));
    while (atomic_load(&begun) < WORKERS)
        usleep(10);
    for (unsigned i = 0; i < WORKERS; i++) {
        usleep(round * 37 % 200);
        CHECK(pthread_cancel(workers[i]));
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        void *end = NULL;
        CHECK(pthread_join(workers[i], &end));
        if (end != PTHREAD_CANCELED)
            puts("not cancelled");
    }
}

int main(void)
{
    pthread_t copiers[COPIERS];
    CHECK(cudaMalloc(&device, PAGE));
    CHECK(cudaMallocHost((void **)&pages, (size_t)PAGE * PAGES));
    for (uintptr_t i = 0; i < COPIERS; i++)
        CHECK(pthread_create(&copiers[i], NULL, copy, (void *)i));
    for (unsigned round = 0; round < ROUNDS; round++)
        cancel_some(round);
    atomic_store(&stop, true);
    for (unsigned i = 0; i < COPIERS; i++)
        CHECK(pthread_join(copiers[i], NULL));
    use_cuda("after");
    return 0;
}
