// expect-exit: 0
// needs: kernel (seccomp)
//
// A thread takes locks again and again that lie between registered memory and not in it. Then their
// memory is registered, and the thread sleeps on them beside the target of a copy.
#include "futex_trap.h"

#include <pthread.h>
#include <sys/mman.h>

enum { ROUNDS = 10, TIMES = 100, ROOM = BLOCK + PAGE };

struct edge {
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
};

static struct edge *edge;
static pthread_barrier_t turn;

static int take_mutex(void)
{
    return pthread_mutex_lock(&edge->mutex);
}

static int give_mutex(void)
{
    return pthread_mutex_unlock(&edge->mutex);
}

static int take_for_reading(void)
{
    return pthread_rwlock_rdlock(&edge->rwlock);
}

static int take_for_writing(void)
{
    return pthread_rwlock_wrlock(&edge->rwlock);
}

static int give_rwlock(void)
{
    return pthread_rwlock_unlock(&edge->rwlock);
}

static const struct lock {
    const char *name;
    int (*take)(void);
    int (*hold)(void); /* keeps others from taking it */
    int (*give)(void);
} locks[] = {
    {"mutex", take_mutex, take_mutex, give_mutex},
    {"lock of readers", take_for_reading, take_for_writing, give_rwlock},
    {"lock of writers", take_for_writing, take_for_reading, give_rwlock},
};

static void *take_again_and_again(void *argument)
{
    const struct lock *lock = (const struct lock *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < TIMES; i++) {
            CHECK(lock->take());
            CHECK(lock->give());
        }
        pthread_barrier_wait(&turn);
        pthread_barrier_wait(&turn);
        CHECK(lock->take());
        CHECK(lock->give());
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

static void sleep_on(const struct lock *lock)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, take_again_and_again, (void *)(uintptr_t)lock));
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&turn);
        CHECK(lock->hold());
        trap_arm();
        pthread_barrier_wait(&turn);
        trap_await_stop();
        CHECK(lock->give());
        pthread_barrier_wait(&turn);
        trap_disarm();
    }
    CHECK(pthread_join(thread, NULL));
    printf("%s\n", lock->name);
}

int main(void)
{
    void *room =
        mmap(NULL, PAGE + ROOM + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return 3;
    unsigned char *first = (unsigned char *)room;
    trap_start(first + PAGE);
    CHECK(cudaHostRegister(first, PAGE, cudaHostRegisterDefault));
    CHECK(cudaHostRegister(first + PAGE + ROOM, PAGE, cudaHostRegisterDefault));
    edge = (struct edge *)trap.block;
    CHECK(pthread_barrier_init(&turn, NULL, 2));
    CHECK(pthread_mutex_init(&edge->mutex, NULL));
    CHECK(pthread_rwlock_init(&edge->rwlock, NULL));
    for (size_t i = 0; i < sizeof locks / sizeof locks[0]; i++)
        sleep_on(&locks[i]);
    return 0;
}
