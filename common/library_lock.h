/* Locks of the library that must not be taken in a signal handler that interrupts their owner. A
 * handler may touch guarded memory while the thread that it interrupts holds such a lock; the
 * handler must notice that (sc_library_lock_depth), since it would wait for its own thread.
 *
 * A thread counts as within the lock from before it tries to acquire it until after it has released
 * it. Thread-safe; no function here may be called in a signal handler. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_TOOLS_LIBRARY_LOCK_H
#define SC_TOOLS_LIBRARY_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"

/* Above 0 while the calling thread is within a lock of the library, and always on threads of the
 * library, which must not wait for themselves. A signal handler may read it. */
extern __thread int sc_library_lock_depth __attribute__((tls_model("initial-exec")));

/* A function that the thread must call when it has left its last lock of the library, or NULL. A
 * signal handler that interrupts the thread within a lock may set it. */
extern __thread void (*sc_library_lock_on_leave)(void) __attribute__((tls_model("initial-exec")));

/* Added to the depth of a thread of the library, which counts as within a lock for ever. */
enum { SC_LIBRARY_LOCK_THREAD = 1 << 20 };

/* Marks the calling thread as one of the library's. A touch of a protected page on it then never
 * waits: it may be the thread that would end the wait. */
static inline void sc_library_lock_mark_library_thread(void)
{
    sc_library_lock_depth += SC_LIBRARY_LOCK_THREAD;
}

/* Is the calling thread one of the library's own? */
static inline bool sc_library_lock_is_library_thread(void)
{
    return __builtin_expect(sc_library_lock_depth >= SC_LIBRARY_LOCK_THREAD, 0);
}

/* Counts that the thread is within a lock of the library from now on: to be called before it tries
 * to acquire one. The fence keeps the compiler from moving the lock before the count. */
static inline void sc_library_lock_enter(void)
{
    sc_library_lock_depth++;
    atomic_signal_fence(memory_order_seq_cst);
}

/* Counts that the thread has left a lock of the library. True: it was the thread's last one, or an
 * outer one, and a handler has set sc_library_lock_on_leave: the caller must call
 * sc_library_lock_run_on_leave next. */
static inline bool sc_library_lock_leave_first(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    sc_library_lock_depth--;
    atomic_signal_fence(memory_order_seq_cst);
    return __builtin_expect(sc_library_lock_on_leave != NULL, 0);
}

/* Runs what a signal handler has put off until the thread is out of its locks
 * (sc_library_lock_on_leave), unless it still is in an outer one. */
static inline void sc_library_lock_run_on_leave(void)
{
    if (sc_library_lock_depth == 0)
        sc_library_lock_on_leave();
}

/* Counts that the thread has left a lock of the library, after its release; out of the last one,
 * it runs what a signal handler has put off. */
static inline void sc_library_lock_leave(void)
{
    if (sc_library_lock_leave_first())
        sc_library_lock_run_on_leave();
}

/* A function that a thread calls when it has found a lock taken. `slept_ms`: for how long it has
 * slept already. True: the thread must call it again in a millisecond. False: the thread may sleep
 * until the lock is free. If the wait is abandoned, the function does not return
 * (interpose/base/spare_stack.h). */
typedef bool sc_library_lock_contended_function(unsigned slept_ms);
/* The function that threads call when they have found a lock taken; NULL: none. */
extern _Atomic(sc_library_lock_contended_function *) sc_library_lock_on_contended;

/* Sleeps while the futex `word` has the value, for a millisecond at most, having called
 * sc_library_lock_on_contended. True: the millisecond has passed. */
bool sc_library_lock_sleep(_Atomic uint32_t *word, uint32_t value, unsigned slept_ms);

/* Waits for a lock that was found taken (pthread_mutex_trylock failed), and acquires it. */
void sc_library_lock_await(pthread_mutex_t *lock) SC_ACQUIRES(*lock);

/* Acquires the mutex, counted as within a lock of the library, by which signal handlers know that
 * they must not wait for it. */
static inline void sc_library_lock_acquire(pthread_mutex_t *lock) SC_ACQUIRES(*lock)
{
    SC_ASSERT_NOT_HELD(lock);
    sc_library_lock_enter();
    if (__builtin_expect(pthread_mutex_trylock(lock) != 0, 0))
        sc_library_lock_await(lock);
}

/* Releases the mutex, and counts that the thread has left a lock of the library. */
static inline void sc_library_lock_release(pthread_mutex_t *lock) SC_RELEASES(*lock)
{
    SC_ASSERT_HELD(lock);
    pthread_mutex_unlock(lock);
    sc_library_lock_leave();
}

#endif
