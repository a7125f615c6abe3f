/* Waits with a deadline.
 *
 * A deadline is a time of CLOCK_MONOTONIC, so that setting the clock neither prolongs nor shortens
 * a wait. glibc has such waits since 2.30, and the library is built for 2.28, so they are looked up
 * at run time. Without them the waits use CLOCK_REALTIME. Thread-safe. */
#ifndef SC_TOOLS_DEADLINES_H
#define SC_TOOLS_DEADLINES_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <time.h>

#include "common/checks.h"

typedef int sc_cond_clockwait_function(pthread_cond_t *cond, pthread_mutex_t *lock, clockid_t clock,
                                       const struct timespec *deadline);
typedef int sc_sem_clockwait_function(sem_t *semaphore, clockid_t clock,
                                      const struct timespec *deadline);

/* Sets pthread_cond_clockwait and sem_clockwait; NULL: glibc lacks it. Until this call both count
 * as lacking. Waits that are under way do not change. */
void sc_deadlines_use(sc_cond_clockwait_function *cond, sc_sem_clockwait_function *sem);

/* Returns the deadline that is `wait_ns` from now. */
struct timespec sc_deadline_in(uint64_t wait_ns);

/* Lock the mutex, or wait for the condition, until the deadline at most. Return 0 or an error
 * number, ETIMEDOUT after the deadline. */
int sc_lock_until(pthread_mutex_t *lock, const struct timespec *deadline) SC_TRY_ACQUIRES(0, *lock);
int sc_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock,
                       const struct timespec *deadline);

/* Waits for the semaphore until the deadline at most. Returns 0, or -1 with errno. */
int sc_sem_wait_until(sem_t *semaphore, const struct timespec *deadline);

#endif
