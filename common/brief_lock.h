/* Brief locks: locks that every copy takes, each held for some tens of nanoseconds. A mutex of the
 * C library does the same in seven times as many instructions. If no other thread wants the lock,
 * acquiring it is one atomic exchange, and releasing it a load and a store.
 *
 * A thread that finds the lock taken spins for a moment, and then sleeps. The owner counts as
 * within a lock of the library (common/library_lock.h). Thread-safe; no cancellation point; errno
 * is kept. In a signal handler only while sc_library_lock_depth is 0. A lock that is all zero is
 * free. */
#ifndef SC_TOOLS_BRIEF_LOCK_H
#define SC_TOOLS_BRIEF_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/checks.h"

struct SC_LOCK sc_brief_lock {
    _Atomic uint32_t state;
    /* An average of how often threads lately had to check until the lock was free: spinning longer
     * does not help. */
    _Atomic uint32_t spins;
#ifdef SC_DEBUG
    _Atomic int32_t owner; /* the thread that holds it */
#endif
};

/* States: free; taken; taken, and other threads may sleep until it is free. */
enum { SC_BRIEF_LOCK_FREE, SC_BRIEF_LOCK_TAKEN, SC_BRIEF_LOCK_AWAITED };

/* Acquires the lock, and waits for it if another thread has it. */
void sc_brief_lock_acquire(struct sc_brief_lock *lock) SC_ACQUIRES(*lock);
/* The same for a lock over which its owner makes a system call of some microseconds. */
void sc_brief_lock_acquire_over_call(struct sc_brief_lock *lock) SC_ACQUIRES(*lock);
/* Acquires the lock if it is free. False: it is taken. */
bool sc_brief_lock_try(struct sc_brief_lock *lock) SC_TRY_ACQUIRES(true, *lock);

/* Releases the lock, which the calling thread must hold. */
void sc_brief_lock_release(struct sc_brief_lock *lock) SC_RELEASES(*lock);

/* Acquires the lock and returns it, for SC_LOCKED_BRIEFLY, which releases it by
 * sc_brief_lock_leave. */
static inline struct sc_brief_lock *sc_brief_lock_enter(struct sc_brief_lock *lock)
    SC_ENTERS(*lock) SC_UNFOLLOWED
{
    sc_brief_lock_acquire(lock);
    return lock;
}

/* Releases the lock at the end of a block: the cleanup of SC_LOCKED_BRIEFLY. */
static inline void sc_brief_lock_leave(struct sc_brief_lock *const *lock) SC_UNFOLLOWED
{
    sc_brief_lock_release(*lock);
}

/* Holds the lock until the end of the block, as SC_LOCKED holds a mutex. */
#define SC_LOCKED_BRIEFLY(lock)                                                                    \
    __attribute__((cleanup(sc_brief_lock_leave), unused)) struct sc_brief_lock *const locked_ =    \
        sc_brief_lock_enter(lock)

/* For debug builds: records that the calling thread holds the lock from now on, or that no thread
 * does. Code that uses sc_brief_lock_grab calls this, too. */
static inline void sc_brief_lock_note(struct sc_brief_lock *lock, bool taken)
{
    (void)lock, (void)taken;
    SC_CHECK(
        atomic_store_explicit(&lock->owner, taken ? sc_checks_thread() : 0, memory_order_relaxed));
}

/* Acquires the lock if it is free, without a function call. False: it is taken. To be called only
 * between sc_library_lock_enter and sc_library_lock_leave, by which signal handlers know that the
 * thread may have a lock. */
static inline bool sc_brief_lock_grab(struct sc_brief_lock *lock)
{
    uint32_t expected = SC_BRIEF_LOCK_FREE;
    return atomic_compare_exchange_strong_explicit(&lock->state, &expected, SC_BRIEF_LOCK_TAKEN,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* Releases the lock. True: other threads may sleep for it, and the caller must call
 * sc_brief_lock_wake next. A thread that sets the lock to AWAITED between the load and the store is
 * not noticed. It finds the lock free when it calls the futex, or else wakes within the millisecond
 * for which it sleeps. */
static inline bool sc_brief_lock_unlock(struct sc_brief_lock *lock)
{
    SC_ASSERT_HELD(lock);
    sc_brief_lock_note(lock, false);
    uint32_t state = atomic_load_explicit(&lock->state, memory_order_relaxed);
    atomic_store_explicit(&lock->state, SC_BRIEF_LOCK_FREE, memory_order_release);
    return state == SC_BRIEF_LOCK_AWAITED;
}

/* Wakes one thread that sleeps for the lock, after sc_brief_lock_unlock has returned true. */
void sc_brief_lock_wake(struct sc_brief_lock *lock);

#endif
