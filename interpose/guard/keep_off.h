/* Objects of the program that the kernel touches at times that no call of the program marks: a
 * mutex that others sleep on, a buffer that glibc's own threads read into.
 *
 * glibc aborts the process when the kernel finds a futex inaccessible. So pages on which such an
 * object was seen are guarded no more (track/kept_off.h), for as long as their range lasts. An
 * object is seen when a hooked function gets it that may sleep or wake there. Where the set of such
 * pages has no place left for all of an object's, its whole range is guarded no more.
 *
 * Who keeps a page off stores that and then looks at what is guarded. The guard records what it is
 * about to protect, and then looks at what is kept off. So one of the two sees the other, as with
 * loans (interpose/guard/loans.h).
 *
 * Thread safe and signal safe; errno is kept; no cancellation point. Locks: the guard's and the
 * tracker's where a page is seen for the first time, and none otherwise.
 */
#ifndef SC_INTERPOSE_GUARD_KEEP_OFF_H
#define SC_INTERPOSE_GUARD_KEEP_OFF_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/base/compiler.h"
#include "track/grid.h"
#include "track/track.h"

/* Is there memory that could be guarded? One load. */
static inline bool sc_keep_off_may_be_needed(void)
{
    return sc_unlikely(!sc_grid_is_empty(&sc_track.inflight.range_grid));
}

/* The kernel may touch the object at any time from now on. */
void sc_keep_off_always(const void *object, size_t size_bytes);

/* Lets go of the page for once: the kernel is about to touch it, and nobody knows how much of it.
 */
void sc_keep_off_once(const void *object);

#endif
