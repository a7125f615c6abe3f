// expect-exit: 0
// timeout: 60
//
// A time limit on computing, the classical way: a handler that jumps out of a loop, which works on
// bytes beside those of copies that come and go. Wherever the jump takes the thread out, the rest
// goes on, and its mask is as it was saved.
#include "survival.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>

enum { ROUNDS = 2000, COPIERS = 2, PAGE = 4096, PAGES = 4 };

static unsigned char *pages;
static void *device;
static atomic_bool stop;
static atomic_uint turn, rounds;
static __thread sigjmp_buf back;

static void jump(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static void allow(int how)
{
    sigset_t limit;
    sigemptyset(&limit);
    sigaddset(&limit, SIGUSR1);
    CHECK(pthread_sigmask(how, &limit, NULL));
}

static void *compute(void *unused)
{
    (void)unused;
    allow(SIG_BLOCK);
    while (atomic_load(&rounds) < ROUNDS) {
        if (sigsetjmp(back, 1) != 0) {
            atomic_fetch_add(&rounds, 1);
            continue;
        }
        atomic_store(&turn, 1);
        allow(SIG_UNBLOCK);
        for (unsigned i = 0;; i++)
            (*(volatile unsigned char *)(pages + PAGE / 2 + (size_t)PAGE * (i % PAGES)))++;
    }
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

static void limit_each(pthread_t worker)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        while (!atomic_exchange(&turn, 0))
            sched_yield();
        usleep(round * 37 % 150);
        CHECK(pthread_kill(worker, SIGUSR1));
        while (atomic_load(&rounds) == round)
            sched_yield();
    }
}

int main(void)
{
    pthread_t worker, copiers[COPIERS];
    CHECK(cudaMalloc(&device, PAGE));
    CHECK(cudaMallocHost((void **)&pages, (size_t)PAGE * PAGES));
    CHECK(signal(SIGUSR1, jump) == SIG_ERR);
    for (uintptr_t i = 0; i < COPIERS; i++)
        CHECK(pthread_create(&copiers[i], NULL, copy, (void *)i));
    CHECK(pthread_create(&worker, NULL, compute, NULL));
    limit_each(worker);
    CHECK(pthread_join(worker, NULL));
    atomic_store(&stop, true);
    for (unsigned i = 0; i < COPIERS; i++)
        CHECK(pthread_join(copiers[i], NULL));
    printf("%u rounds\n", atomic_load(&rounds));
    use_cuda("after");
    return 0;
}
