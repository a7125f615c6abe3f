// expect-exit: 0
// needs: kernel (seccomp)
//
// More pages with mutexes on them than anybody would keep a list of: the next one is safe as well,
// and so are those that come when all are gone.
#include "futex_trap.h"

#include <pthread.h>

enum { MANY = 12288 };

static pthread_mutex_t *mutex;

static pthread_mutex_t *nth(unsigned char *pages, size_t i)
{
    return (pthread_mutex_t *)(pages + i * PAGE + i % 32 * 64);
}

static unsigned char *make_many(void)
{
    unsigned char *pages;
    CHECK(cudaMallocHost((void **)&pages, (size_t)MANY * PAGE));
    for (size_t i = 0; i < MANY; i++) {
        CHECK(pthread_mutex_init(nth(pages, i), NULL));
        CHECK(pthread_mutex_lock(nth(pages, i)));
    }
    return pages;
}

static void *lock(void *unused)
{
    CHECK(pthread_mutex_lock(mutex));
    return unused;
}

static void show(const char *when)
{
    pthread_t thread;
    CHECK(pthread_mutex_init(mutex, NULL));
    CHECK(pthread_mutex_lock(mutex));
    trap_arm();
    CHECK(pthread_create(&thread, NULL, lock, NULL));
    trap_await_stop();
    CHECK(pthread_mutex_unlock(mutex));
    CHECK(pthread_join(thread, NULL));
    trap_disarm();
    puts(when);
}

static bool works_on(unsigned char *pages)
{
    unsigned wrong = 0;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (size_t i = 0; i < MANY; i += 97) {
        unsigned char *beside = pages + i * PAGE + 3000;
        CHECK(cudaMemcpyAsync(beside, trap.device, 64, cudaMemcpyDeviceToHost, stream));
        CHECK(pthread_mutex_unlock(nth(pages, i)));
        CHECK(pthread_mutex_lock(nth(pages, i)));
        CHECK(cudaStreamSynchronize(stream));
        wrong += *beside != 0x5a;
    }
    CHECK(cudaStreamDestroy(stream));
    return wrong == 0;
}

int main(void)
{
    trap_start(aligned_alloc(PAGE, BLOCK));
    mutex = (pthread_mutex_t *)trap.block;
    for (int round = 0; round < 3; round++) {
        unsigned char *pages = make_many();
        show("with many");
        SHOW(works_on(pages));
        CHECK(cudaFreeHost(pages));
        show("with few");
    }
    return 0;
}
