/* The library's locks that every copy takes, each held for some tens of nanoseconds: a mutex of the
 * C library does the same, in seven times as many instructions. To take one and to give it back is
 * one atomic exchange each, where nobody else wants it.
 *
 * A thread that finds it taken spins for a moment, and sleeps then. Its owner counts as within a
 * lock of the library's (track/own_lock.h). Thread safe; no cancellation point; errno is kept. In a
 * signal handler only where sc_own_lock_depth is 0. All zero is a lock that is free.
 */
#ifndef SC_TRACK_BRIEF_LOCK_H
#define SC_TRACK_BRIEF_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "track/checks.h"

struct SC_LOCK sc_brief_lock {
    _Atomic uint32_t state;
    _Atomic uint32_t spins; /* how often threads looked that found it taken, about: no more helps */
#ifdef SC_DEBUG
    _Atomic int32_t owner; /* the thread that has it */
#endif
};

void sc_brief_lock_take(struct sc_brief_lock *lock) SC_ACQUIRES(*lock);
/* False: it is taken. */
bool sc_brief_lock_try(struct sc_brief_lock *lock) SC_TRY_ACQUIRES(true, *lock);
void sc_brief_lock_give(struct sc_brief_lock *lock) SC_RELEASES(*lock);

/* Who has it from now on; 0: nobody. What stands for the functions above calls this, too. */
static inline void sc_brief_lock_note(struct sc_brief_lock *lock, bool taken)
{
    (void)lock, (void)taken;
    SC_CHECK(
        atomic_store_explicit(&lock->owner, taken ? sc_checks_thread() : 0, memory_order_relaxed));
}

#endif
