#include "common/deadlines.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "common/kernel.h"
#include "common/uncancelled.h"

#include "common/poison.h"

enum { NS_PER_S = 1000000000, LOCK_POLL_NS = 100 * 1000 };

static _Atomic(sc_cond_clockwait_function *) wait_for_cond;
static _Atomic(sc_sem_clockwait_function *) wait_for_sem;

void sc_deadlines_use(sc_cond_clockwait_function *cond, sc_sem_clockwait_function *sem)
{
    atomic_store_explicit(&wait_for_cond, cond, memory_order_relaxed);
    atomic_store_explicit(&wait_for_sem, sem, memory_order_relaxed);
}

/* Returns the time `wait_ns` after `at`. */
static struct timespec add_ns(struct timespec at, uint64_t wait_ns)
{
    uint64_t ns = (uint64_t)at.tv_nsec + wait_ns;
    at.tv_sec += (time_t)(ns / NS_PER_S);
    at.tv_nsec = (long)(ns % NS_PER_S);
    return at;
}

struct timespec sc_deadline_in(uint64_t wait_ns)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return add_ns(now, wait_ns);
}

/* Has the time of CLOCK_MONOTONIC passed? */
static bool is_past(const struct timespec *deadline)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > deadline->tv_sec ||
           (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

/* Polls the lock: the ThreadSanitizer of gcc 12 does not know pthread_mutex_clocklock, and would
 * report the unlock. Sleeps by the system call, since nanosleep() is a cancellation point. */
int sc_lock_until(pthread_mutex_t *lock, const struct timespec *deadline) SC_UNFOLLOWED
{
    const struct timespec moment = {.tv_nsec = LOCK_POLL_NS};
    int result;
    while ((result = pthread_mutex_trylock(lock)) == EBUSY && !is_past(deadline))
        sc_kernel_call(SYS_nanosleep, &moment);
    return result == EBUSY ? ETIMEDOUT : result;
}

/* Returns the deadline as a time of CLOCK_REALTIME, as that clock is set now. */
static struct timespec as_realtime(const struct timespec *deadline)
{
    struct timespec now, real;
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_REALTIME, &real);
    int64_t left_ns =
        (int64_t)(deadline->tv_sec - now.tv_sec) * NS_PER_S + deadline->tv_nsec - now.tv_nsec;
    return add_ns(real, left_ns > 0 ? (uint64_t)left_ns : 0);
}

/* Waits for the condition until the deadline. Older C libraries lack pthread_cond_clockwait; then
 * the wait is by CLOCK_REALTIME, and changes with that clock. */
int sc_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *deadline)
{
    SC_NO_CANCELLATION_POINT();
    sc_cond_clockwait_function *wait = atomic_load_explicit(&wait_for_cond, memory_order_relaxed);
    if (wait)
        return wait(cond, lock, CLOCK_MONOTONIC, deadline);
    struct timespec at = as_realtime(deadline);
    return pthread_cond_timedwait(cond, lock, &at);
}

/* Waits for the semaphore until the deadline, by CLOCK_REALTIME if the C library lacks
 * sem_clockwait. */
int sc_sem_wait_until(sem_t *semaphore, const struct timespec *deadline)
{
    SC_NO_CANCELLATION_POINT();
    sc_sem_clockwait_function *wait = atomic_load_explicit(&wait_for_sem, memory_order_relaxed);
    if (wait)
        return wait(semaphore, CLOCK_MONOTONIC, deadline);
    struct timespec at = as_realtime(deadline);
    return sem_timedwait(semaphore, &at);
}
