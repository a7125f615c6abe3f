/* Acquires and releases a brief lock (brief_lock.h) without a function call if no other thread
 * wants it, for functions that programs call most. */
#ifndef SC_TOOLS_BRIEF_LOCK_HERE_H
#define SC_TOOLS_BRIEF_LOCK_HERE_H

#include "common/brief_lock.h"
#include "common/library_lock.h"

/* Acquires the lock if it is free. False: it is taken, and the caller must call
 * sc_brief_lock_here_await next. Either way the thread counts as within a lock of the library from
 * now on. */
static inline bool sc_brief_lock_here_try(struct sc_brief_lock *lock)
{
    SC_ASSERT_NOT_HELD(lock);
    sc_library_lock_enter();
    bool is_ours = __builtin_expect(sc_brief_lock_grab(lock), 1);
    if (is_ours)
        sc_brief_lock_note(lock, true);
    return is_ours;
}

/* Acquires the lock after sc_brief_lock_here_try has found it taken. Both of them have counted the
 * thread as within a lock of the library, so one is taken back. */
static inline void sc_brief_lock_here_await(struct sc_brief_lock *lock)
    SC_ACQUIRES(*lock) SC_UNFOLLOWED
{
    sc_brief_lock_acquire(lock);
    sc_library_lock_leave();
}

/* Acquires the lock; the usual case, that it is free, makes no function call. */
static inline void sc_brief_lock_here_acquire(struct sc_brief_lock *lock)
    SC_ACQUIRES(*lock) SC_UNFOLLOWED
{
    if (!sc_brief_lock_here_try(lock))
        sc_brief_lock_here_await(lock);
}

/* Wakes a thread that sleeps for the lock, which was just released, and leaves the lock. Not
 * inline, so that the usual case stays short. */
static __attribute__((noinline, unused)) void sc_brief_lock_here_wake(struct sc_brief_lock *lock)
{
    sc_brief_lock_wake(lock);
    sc_library_lock_leave();
}

/* Releases the lock. If this is the last call of a function, the rare case that a thread sleeps for
 * the lock is a tail call, so that no registers are saved for it. */
static inline void sc_brief_lock_here_release(struct sc_brief_lock *lock)
    SC_RELEASES(*lock) SC_UNFOLLOWED
{
    if (__builtin_expect(sc_brief_lock_unlock(lock), 0))
        sc_brief_lock_here_wake(lock);
    else
        sc_library_lock_leave();
}

#endif
