/* Own locks: locks of the library's that a signal handler may meet. It may interrupt the thread
 * that has one, and touch guarded memory. The handler must notice that, since it would wait for its
 * own thread.
 *
 * A thread counts as within the lock from before it asks for it until after it has given it back.
 * Thread-safe; no function here may be called in a signal handler. */
#ifndef SC_TOOLS_LIBRARY_LOCK_H
#define SC_TOOLS_LIBRARY_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"

/* Above 0 while the calling thread is within an own lock, and always on threads of the library's,
 * which must not wait for themselves. A signal handler may read it. */
extern __thread int sc_library_lock_depth __attribute__((tls_model("initial-exec")));

/* What the thread has to call when it has left its last own lock, or NULL. A signal handler that
 * interrupts the thread within a lock may set it. */
extern __thread void (*sc_library_lock_on_leave)(void) __attribute__((tls_model("initial-exec")));

/* Added to the depth of a thread of the library's, which counts as within a lock for good. */
enum { SC_LIBRARY_LOCK_THREAD = 1 << 20 };

static inline void sc_library_lock_mark_library_thread(void)
{
    sc_library_lock_depth += SC_LIBRARY_LOCK_THREAD;
}

static inline bool sc_library_lock_is_library_thread(void)
{
    return __builtin_expect(sc_library_lock_depth >= SC_LIBRARY_LOCK_THREAD, 0);
}

static inline void sc_library_lock_enter(void)
{
    sc_library_lock_depth++;
    atomic_signal_fence(memory_order_seq_cst);
}

/* Leaves a lock of the library's. True: it was the thread's last one, and what was put off
 * meanwhile may have to be done: sc_library_lock_run_on_leave is to be called next. */
static inline bool sc_library_lock_leave_first(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    sc_library_lock_depth--;
    atomic_signal_fence(memory_order_seq_cst);
    return __builtin_expect(sc_library_lock_on_leave != NULL, 0);
}

static inline void sc_library_lock_run_on_leave(void)
{
    if (sc_library_lock_depth == 0)
        sc_library_lock_on_leave();
}

static inline void sc_library_lock_leave(void)
{
    if (sc_library_lock_leave_first())
        sc_library_lock_run_on_leave();
}

/* A function that a thread calls which has found an own lock taken. `slept_ms`: for how long it has
 * slept already. True: the thread is to call again in a millisecond. False: it may sleep until the
 * lock is free. If the wait is given up, the function does not return
 * (interpose/base/spare_stack.h). */
typedef bool sc_library_lock_contended_function(unsigned slept_ms);
/* The function of this type that threads call; NULL: none. */
extern _Atomic(sc_library_lock_contended_function *) sc_library_lock_on_contended;

/* Sleeps while the futex has the value, for a millisecond at most. True: the millisecond has
 * passed. */
bool sc_library_lock_sleep(_Atomic uint32_t *word, uint32_t value, unsigned slept_ms);

/* Waits for a lock that was found taken, and takes it. */
void sc_library_lock_await(pthread_mutex_t *lock) SC_ACQUIRES(*lock);

static inline void sc_library_lock_acquire(pthread_mutex_t *lock) SC_ACQUIRES(*lock)
{
    SC_ASSERT_NOT_HELD(lock);
    sc_library_lock_enter();
    if (__builtin_expect(pthread_mutex_trylock(lock) != 0, 0))
        sc_library_lock_await(lock);
}

static inline void sc_library_lock_release(pthread_mutex_t *lock) SC_RELEASES(*lock)
{
    SC_ASSERT_HELD(lock);
    pthread_mutex_unlock(lock);
    sc_library_lock_leave();
}

#endif
