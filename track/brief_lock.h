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

struct sc_brief_lock {
    _Atomic uint32_t state;
    _Atomic uint32_t spins; /* how often threads looked that found it taken, about: no more helps */
};

void sc_brief_lock_take(struct sc_brief_lock *lock);
bool sc_brief_lock_try(struct sc_brief_lock *lock); /* false: it is taken */
void sc_brief_lock_give(struct sc_brief_lock *lock);

#endif
