/* Locks of the library's that a signal handler may meet: it interrupts the thread that has one, and
 * touches guarded memory. The handler must see that, since it would wait for itself.
 *
 * The thread counts as within the lock from before it asks for it until after it has given it
 * back. Thread safe; none of this may be called in a signal handler.
 */
#ifndef SC_TOOLS_OWN_LOCK_H
#define SC_TOOLS_OWN_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"

/* Above 0 while the calling thread is within such a lock, and always on threads of the library's,
 * which cannot wait for themselves. A signal handler may read it. */
extern __thread int sc_own_lock_depth __attribute__((tls_model("initial-exec")));

/* What the thread is to do when it has left its last such lock, or NULL. A signal handler that
 * interrupts the thread within one may set it. */
extern __thread void (*sc_own_lock_left)(void) __attribute__((tls_model("initial-exec")));

/* A thread of the library's is within a lock for good. */
enum { SC_OWN_LOCK_THREAD = 1 << 20 };

static inline void sc_own_lock_be_own_thread(void)
{
    sc_own_lock_depth += SC_OWN_LOCK_THREAD;
}

static inline bool sc_own_lock_is_own_thread(void)
{
    return __builtin_expect(sc_own_lock_depth >= SC_OWN_LOCK_THREAD, 0);
}

static inline void sc_own_lock_enter(void)
{
    sc_own_lock_depth++;
    atomic_signal_fence(memory_order_seq_cst);
}

/* True: it may be the last one, and sc_own_lock_have_left comes next. */
static inline bool sc_own_lock_leaves(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    sc_own_lock_depth--;
    atomic_signal_fence(memory_order_seq_cst);
    return __builtin_expect(sc_own_lock_left != NULL, 0);
}

static inline void sc_own_lock_have_left(void)
{
    if (sc_own_lock_depth == 0)
        sc_own_lock_left();
}

static inline void sc_own_lock_leave(void)
{
    if (sc_own_lock_leaves())
        sc_own_lock_have_left();
}

/* What a thread asks that has found such a lock taken, and has slept for it so long already. True:
 * it is to ask again in a millisecond. False: it may sleep until the lock is free. Where the wait
 * is given up this does not return (interpose/base/spare_stack.h). NULL: nobody is asked. */
typedef bool sc_own_lock_look(unsigned slept_ms);
extern _Atomic(sc_own_lock_look *) sc_own_lock_looks;

/* Sleeps while the futex has the value. True: for a millisecond, in vain. */
bool sc_own_lock_sleep(_Atomic uint32_t *word, uint32_t value, unsigned slept_ms);

/* Takes a lock that was found taken. */
void sc_own_lock_await(pthread_mutex_t *lock) SC_ACQUIRES(*lock);

static inline void sc_own_lock_take(pthread_mutex_t *lock) SC_ACQUIRES(*lock)
{
    SC_ASSERT_NOT_HELD(lock);
    sc_own_lock_enter();
    if (__builtin_expect(pthread_mutex_trylock(lock) != 0, 0))
        sc_own_lock_await(lock);
}

static inline void sc_own_lock_give(pthread_mutex_t *lock) SC_RELEASES(*lock)
{
    SC_ASSERT_HELD(lock);
    pthread_mutex_unlock(lock);
    sc_own_lock_leave();
}

#endif
