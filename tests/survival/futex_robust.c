// expect-exit: 0
// needs: kernel (robust futexes)
//
// A thread ends with a robust mutex of its own, and another is cancelled while it waits, on a page
// with the target of a copy in flight: the kernel finds the mutex, and clean-up handlers run.
#include "in_flight.h"

#include <pthread.h>
#include <time.h>

struct edge {
    pthread_mutex_t robust, mutex;
    pthread_cond_t cond;
};

static struct edge *edge;
static atomic_bool holds_it, may_end;

static void *end_with_mutex(void *unused)
{
    CHECK(pthread_mutex_lock(&edge->robust));
    atomic_store(&holds_it, true);
    while (!atomic_load(&may_end))
        usleep(1000);
    return unused;
}

/* The copy is issued when the owner has touched its mutex for the last time. */
static void owner_dies(void)
{
    pthread_t owner;
    pthread_mutexattr_t attributes;
    struct timespec late;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    CHECK(pthread_mutex_init(&edge->robust, &attributes));
    CHECK(pthread_create(&owner, NULL, end_with_mutex, NULL));
    while (!atomic_load(&holds_it))
        usleep(1000);
    hold();
    atomic_store(&may_end, true);
    CHECK(pthread_join(owner, NULL));
    clock_gettime(CLOCK_REALTIME, &late);
    late.tv_sec += 60;
    int result = pthread_mutex_timedlock(&edge->robust, &late);
    printf("the owner is dead -> %d\n", result == EOWNERDEAD);
    fflush(stdout);
    release();
    CHECK(pthread_mutex_consistent(&edge->robust));
    CHECK(pthread_mutex_unlock(&edge->robust));
}

static atomic_bool waits;

static void clean_up(void *unused)
{
    (void)unused;
    SHOW(pthread_mutex_unlock(&edge->mutex));
}

static void *wait_for_ever(void *unused)
{
    CHECK(pthread_mutex_lock(&edge->mutex));
    pthread_cleanup_push(clean_up, NULL);
    atomic_store(&waits, true);
    for (;;)
        pthread_cond_wait(&edge->cond, &edge->mutex);
    pthread_cleanup_pop(1);
    return unused;
}

static void waiter_is_cancelled(void)
{
    pthread_t waiter;
    void *result;
    CHECK(pthread_mutex_init(&edge->mutex, NULL));
    CHECK(pthread_cond_init(&edge->cond, NULL));
    CHECK(pthread_create(&waiter, NULL, wait_for_ever, NULL));
    while (!atomic_load(&waits))
        usleep(1000);
    usleep(20000);
    hold();
    CHECK(pthread_cancel(waiter));
    CHECK(pthread_join(waiter, &result));
    SHOW(result == PTHREAD_CANCELED);
    SHOW(pthread_mutex_lock(&edge->mutex));
    SHOW(pthread_mutex_unlock(&edge->mutex));
    SHOW(pthread_cond_signal(&edge->cond));
    SHOW(pthread_cond_destroy(&edge->cond));
    release();
}

int main(void)
{
    edge = (struct edge *)edge_start();
    owner_dies();
    waiter_is_cancelled();
    return 0;
}
