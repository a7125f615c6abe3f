/* Mutexes of the library, under some of which it calls the driver. So a signal of the program is
 * handled while a thread holds one (common/library_lock.h has the locks that postpone signals). The
 * handler may touch guarded memory, and must not wait then: the reaper, which ends such waits, may
 * need the mutex. So a thread counts the mutexes that it holds.
 *
 * A mutex counts from before the thread tries to lock it until after it is unlocked. The owner that
 * glibc notes in a mutex does not tell as much: it is stored a few instructions after the lock is
 * taken. Thread-safe. In a signal handler only for mutexes that its thread cannot hold, or that are
 * held with signals blocked. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_TOOLS_MUTEX_H
#define SC_TOOLS_MUTEX_H

#include <pthread.h>
#include <stdatomic.h>

#include "common/checks.h"
#include "common/deadlines.h"

/* How many mutexes the calling thread holds, or is about to. A signal handler may read it. */
extern __thread int sc_mutex_depth __attribute__((tls_model("initial-exec")));

/* Counts a mutex. The fence keeps the compiler from moving the lock before the count. */
static inline void sc_mutex_count(void)
{
    sc_mutex_depth++;
    atomic_signal_fence(memory_order_seq_cst);
}

/* Counts a mutex no longer. */
static inline void sc_mutex_discount(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    SC_ASSERT(sc_mutex_depth > 0);
    sc_mutex_depth--;
}

static inline void sc_mutex_lock(pthread_mutex_t *mutex) SC_ACQUIRES(*mutex)
{
    sc_mutex_count();
    pthread_mutex_lock(mutex);
}

/* Returns 0, or EBUSY: another thread has it. */
static inline int sc_mutex_trylock(pthread_mutex_t *mutex) SC_TRY_ACQUIRES(0, *mutex)
{
    sc_mutex_count();
    int result = pthread_mutex_trylock(mutex);
    if (result != 0)
        sc_mutex_discount();
    return result;
}

/* Locks the mutex, if that is possible until the deadline (common/deadlines.h). Returns 0, or
 * ETIMEDOUT. */
static inline int sc_mutex_lock_until(pthread_mutex_t *mutex, const struct timespec *deadline)
    SC_TRY_ACQUIRES(0, *mutex)
{
    sc_mutex_count();
    int result = sc_lock_until(mutex, deadline);
    if (result != 0)
        sc_mutex_discount();
    return result;
}

static inline void sc_mutex_unlock(pthread_mutex_t *mutex) SC_RELEASES(*mutex)
{
    pthread_mutex_unlock(mutex);
    sc_mutex_discount();
}

/* Locks the mutex and returns it, for SC_LOCKED, which unlocks it by sc_mutex_leave. */
static inline pthread_mutex_t *sc_mutex_enter(pthread_mutex_t *mutex)
    SC_ENTERS(*mutex) SC_UNFOLLOWED
{
    sc_mutex_lock(mutex);
    return mutex;
}

/* Unlocks the mutex at the end of a block: the cleanup of SC_LOCKED. */
static inline void sc_mutex_leave(pthread_mutex_t *const *mutex) SC_UNFOLLOWED
{
    sc_mutex_unlock(*mutex);
}

/* Holds the mutex until the end of the block, whichever way that is reached: a value that is
 * returned is computed with the lock. */
#define SC_LOCKED(mutex)                                                                           \
    __attribute__((cleanup(sc_mutex_leave), unused)) pthread_mutex_t *const locked_ =              \
        sc_mutex_enter(mutex)

#endif
