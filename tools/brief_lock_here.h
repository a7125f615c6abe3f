/* A brief lock (brief_lock.h) that is taken and given back without a call where nobody else wants
 * it: for what programs call most.
 */
#ifndef SC_TOOLS_BRIEF_LOCK_HERE_H
#define SC_TOOLS_BRIEF_LOCK_HERE_H

#include "tools/brief_lock.h"
#include "tools/own_lock.h"

static inline void sc_brief_lock_here_take(struct sc_brief_lock *lock)
    SC_ACQUIRES(*lock) SC_UNFOLLOWED
{
    SC_ASSERT_NOT_HELD(lock);
    sc_own_lock_enter();
    if (__builtin_expect(!sc_brief_lock_grab(lock), 0)) {
        sc_brief_lock_take(lock);
        sc_own_lock_leave();
    }
    sc_brief_lock_note(lock, true);
}

static inline void sc_brief_lock_here_give(struct sc_brief_lock *lock)
    SC_RELEASES(*lock) SC_UNFOLLOWED
{
    if (__builtin_expect(sc_brief_lock_let(lock) == SC_BRIEF_LOCK_AWAITED, 0))
        sc_brief_lock_wake(lock);
    sc_own_lock_leave();
}

#endif
