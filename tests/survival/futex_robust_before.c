// expect-exit: 0
// needs: registered
// needs: kernel (robust futexes)
//
// Two threads hold robust mutexes, one of them with priority inheritance, before the memory of
// these is registered. They end while a copy is in flight on the page: who waits for the mutexes
// hears of it.
#include "in_flight.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_barrier_t locked;
static atomic_bool may_end;

static void *end_with_mutex(void *mutex)
{
    CHECK(pthread_mutex_lock((pthread_mutex_t *)mutex));
    pthread_barrier_wait(&locked);
    while (!atomic_load(&may_end))
        usleep(1000);
    return NULL;
}

static pthread_t lock(pthread_mutex_t *mutex, int protocol)
{
    pthread_mutexattr_t attributes;
    pthread_t owner;
    CHECK(pthread_mutexattr_init(&attributes));
    CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST));
    CHECK(pthread_mutexattr_setprotocol(&attributes, protocol));
    CHECK(pthread_mutex_init(mutex, &attributes));
    CHECK(pthread_create(&owner, NULL, end_with_mutex, mutex));
    pthread_barrier_wait(&locked);
    return owner;
}

static void take_over(const char *name, pthread_mutex_t *mutex)
{
    struct timespec late;
    clock_gettime(CLOCK_REALTIME, &late);
    late.tv_sec += 60;
    printf("%s: the owner is dead -> %d\n", name,
           pthread_mutex_timedlock(mutex, &late) == EOWNERDEAD);
    fflush(stdout);
    CHECK(pthread_mutex_consistent(mutex));
    CHECK(pthread_mutex_unlock(mutex));
}

int main(void)
{
    pthread_mutex_t *mutexes = (pthread_mutex_t *)edge_start();
    CHECK(pthread_barrier_init(&locked, NULL, 2));
    CHECK(cudaHostUnregister(beside.block));
    pthread_t plain = lock(&mutexes[0], PTHREAD_PRIO_NONE);
    pthread_t inheriting = lock(&mutexes[1], PTHREAD_PRIO_INHERIT);
    CHECK(cudaHostRegister(beside.block, EDGE + IN_FLIGHT + EDGE, cudaHostRegisterDefault));
    hold();
    atomic_store(&may_end, true);
    CHECK(pthread_join(plain, NULL));
    CHECK(pthread_join(inheriting, NULL));
    take_over("plain", &mutexes[0]);
    take_over("priority inheritance", &mutexes[1]);
    release();
    return 0;
}
