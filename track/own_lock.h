/* Locks of the library's that a signal handler may meet: it interrupts the thread that has one, and
 * touches guarded memory. The handler must see that, since it would wait for itself.
 *
 * The thread counts as within the lock from before it asks for it until after it has given it
 * back. Thread safe; none of this may be called in a signal handler.
 */
#ifndef SC_TRACK_OWN_LOCK_H
#define SC_TRACK_OWN_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

/* Above 0 while the calling thread is within such a lock, and always on threads of the library's,
 * which cannot wait for themselves. A signal handler may read it. */
extern __thread int sc_own_lock_depth __attribute__((tls_model("initial-exec")));

/* What the thread is to do when it has left its last such lock, or NULL. A signal handler that
 * interrupts the thread within one may set it. */
extern __thread void (*sc_own_lock_left)(void) __attribute__((tls_model("initial-exec")));

static inline void sc_own_lock_enter(void)
{
    sc_own_lock_depth++;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void sc_own_lock_leave(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    int depth = --sc_own_lock_depth;
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(sc_own_lock_left != NULL, 0) && depth == 0)
        sc_own_lock_left();
}

static inline void sc_own_lock_take(pthread_mutex_t *lock)
{
    sc_own_lock_enter();
    pthread_mutex_lock(lock);
}

static inline void sc_own_lock_give(pthread_mutex_t *lock)
{
    pthread_mutex_unlock(lock);
    sc_own_lock_leave();
}

#endif
