/* Waits that end at a deadline.
 *
 * A deadline is a moment of CLOCK_MONOTONIC: a clock that somebody sets must neither stretch nor
 * cut a wait. glibc offers such waits since 2.30. With an older glibc, deadlines are moments of
 * CLOCK_REALTIME. Thread-safe.
 */
#ifndef SC_TRACK_DEADLINES_H
#define SC_TRACK_DEADLINES_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <time.h>

/* The moment that comes after so much time. */
struct timespec sc_deadline_in(uint64_t wait_ns);

/* As the functions of pthreads: 0 or an error number. */
int sc_lock_until(pthread_mutex_t *lock, const struct timespec *deadline);
int sc_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock,
                       const struct timespec *deadline);

/* 0, or -1 and errno. */
int sc_sem_wait_until(sem_t *semaphore, const struct timespec *deadline);

#endif
