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

/* Sets two functions of glibc 2.30 that the library has looked up; it is built for 2.28, so it
 * cannot link them. NULL: this glibc lacks it. */
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

/* Returns the time that is `wait_ns` from now, as a deadline for the waits below. */
struct timespec sc_deadline_in(uint64_t wait_ns)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return add_ns(now, wait_ns);
}

/* Has this time of CLOCK_MONOTONIC passed? */
static bool is_past(const struct timespec *deadline)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > deadline->tv_sec ||
           (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

/* Tries to lock the mutex until the deadline; 0, ETIMEDOUT or another error. It polls: the
 * ThreadSanitizer of gcc 12 does not know pthread_mutex_clocklock, and would report the unlock. It
 * sleeps by a system call, since nanosleep() is a cancellation point. */
int sc_lock_until(pthread_mutex_t *lock, const struct timespec *deadline) SC_UNFOLLOWED
{
    const struct timespec moment = {.tv_nsec = LOCK_POLL_NS};
    int result;
    while ((result = pthread_mutex_trylock(lock)) == EBUSY && !is_past(deadline))
        sc_kernel_call(SYS_nanosleep, &moment);
    return result == EBUSY ? ETIMEDOUT : result;
}

/* Returns the deadline, a time of CLOCK_MONOTONIC, as a time of CLOCK_REALTIME as that clock is
 * set now, for waits that know no other clock. A deadline that has passed becomes now. */
static struct timespec as_realtime(const struct timespec *deadline)
{
    struct timespec now, real;
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_REALTIME, &real);
    int64_t left_ns =
        (int64_t)(deadline->tv_sec - now.tv_sec) * NS_PER_S + deadline->tv_nsec - now.tv_nsec;
    return add_ns(real, left_ns > 0 ? (uint64_t)left_ns : 0);
}

/* Waits for the condition until the deadline. Before glibc 2.30 there is no such wait by
 * CLOCK_MONOTONIC; then it is by CLOCK_REALTIME, and wrong by as much as that clock is set
 * meanwhile. */
int sc_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *deadline)
{
    SC_NO_CANCELLATION_POINT();
    sc_cond_clockwait_function *wait = atomic_load_explicit(&wait_for_cond, memory_order_relaxed);
    if (wait)
        return wait(cond, lock, CLOCK_MONOTONIC, deadline);
    struct timespec at = as_realtime(deadline);
    return pthread_cond_timedwait(cond, lock, &at);
}

/* Waits for the semaphore until the deadline: 0, or -1 with errno. By CLOCK_REALTIME if glibc has
 * no other such wait (before 2.30). */
int sc_sem_wait_until(sem_t *semaphore, const struct timespec *deadline)
{
    SC_NO_CANCELLATION_POINT();
    sc_sem_clockwait_function *wait = atomic_load_explicit(&wait_for_sem, memory_order_relaxed);
    if (wait)
        return wait(semaphore, CLOCK_MONOTONIC, deadline);
    struct timespec at = as_realtime(deadline);
    return sem_timedwait(semaphore, &at);
}
