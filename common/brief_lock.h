/* Brief locks: the library's locks that every copy takes, each held for some tens of nanoseconds. A
 * mutex of the C library does the same, in seven times as many instructions. If nobody else wants
 * the lock, to take it is one atomic exchange, and to give it back a load and a store.
 *
 * A thread that finds the lock taken spins for a moment, and then sleeps. The owner counts as
 * within a lock of the library's (common/library_lock.h). Thread-safe; no cancellation point; errno
 * is kept. In a signal handler only while sc_library_lock_depth is 0. All zero is a lock that is
 * free. */
#ifndef SC_TOOLS_BRIEF_LOCK_H
#define SC_TOOLS_BRIEF_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/checks.h"

struct SC_LOCK sc_brief_lock {
    _Atomic uint32_t state;
    _Atomic uint32_t spins; /* an average of how often threads lately had to look until the lock was
                               free: spinning longer does not help */
#ifdef SC_DEBUG
    _Atomic int32_t owner; /* the thread that has it */
#endif
};

/* States: free; taken; taken, and other threads may sleep for it. */
enum { SC_BRIEF_LOCK_FREE, SC_BRIEF_LOCK_TAKEN, SC_BRIEF_LOCK_AWAITED };

void sc_brief_lock_acquire(struct sc_brief_lock *lock) SC_ACQUIRES(*lock);
/* Takes the lock if it is free. False: it is taken. */
bool sc_brief_lock_try(struct sc_brief_lock *lock) SC_TRY_ACQUIRES(true, *lock);
void sc_brief_lock_release(struct sc_brief_lock *lock) SC_RELEASES(*lock);

/* For checks: notes that the calling thread has the lock from now on, or that nobody has. Code that
 * uses grab and let calls this, too. */
static inline void sc_brief_lock_note(struct sc_brief_lock *lock, bool taken)
{
    (void)lock, (void)taken;
    SC_CHECK(
        atomic_store_explicit(&lock->owner, taken ? sc_checks_thread() : 0, memory_order_relaxed));
}

/* The steps of take and give without a function call, for use between sc_library_lock_enter and
 * sc_library_lock_leave. Grab takes the lock if it is free. False: it is taken. */
static inline bool sc_brief_lock_grab(struct sc_brief_lock *lock)
{
    uint32_t expected = SC_BRIEF_LOCK_FREE;
    return atomic_compare_exchange_strong_explicit(&lock->state, &expected, SC_BRIEF_LOCK_TAKEN,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* Gives the lock back. True: other threads may sleep for it, and sc_brief_lock_wake is to be called
 * next. A thread that marks the lock as awaited between the load and the store goes unseen. It
 * finds the lock free when it asks Linux to sleep, or else within the millisecond for which it
 * sleeps. */
static inline bool sc_brief_lock_unlock(struct sc_brief_lock *lock)
{
    SC_ASSERT_HELD(lock);
    sc_brief_lock_note(lock, false);
    uint32_t state = atomic_load_explicit(&lock->state, memory_order_relaxed);
    atomic_store_explicit(&lock->state, SC_BRIEF_LOCK_FREE, memory_order_release);
    return state == SC_BRIEF_LOCK_AWAITED;
}

void sc_brief_lock_wake(struct sc_brief_lock *lock);

#endif
