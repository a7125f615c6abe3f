/* Objects of the program that the kernel touches at times that no call of the program marks: a
 * mutex that others sleep on, a buffer that glibc's own threads read into.
 *
 * glibc aborts the process when the kernel finds a futex inaccessible. So pages on which such an
 * object was seen are guarded no more (track/kept_off.h), for as long as the range lasts that they
 * are of. Seen is what a hooked function is given that may sleep or wake there. Where a page has no
 * place left in the set, or an object has more pages than the set should hold, its whole range is
 * guarded no more.
 *
 * Who keeps a page off stores that and then looks at what is guarded; the guard records what it is
 * about to protect and then looks at what is kept off, as with loans (interpose/guard/loans.h).
 *
 * Async-signal-safe; errno is kept; no cancellation point. Takes the guard's and the tracker's lock
 * where a page is seen for the first time, and no lock otherwise.
 */
#ifndef SC_INTERPOSE_GUARD_KEEP_OFF_H
#define SC_INTERPOSE_GUARD_KEEP_OFF_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/base/compiler.h"
#include "interpose/guard/loans.h"
#include "track/grid.h"
#include "track/track.h"

struct sc_guard_change;

/* Is there memory that could be guarded? One load. */
static inline bool sc_keep_off_may_be_needed(void)
{
    return sc_unlikely(!sc_grid_is_empty(&sc_track.inflight.range_grid));
}

/* The kernel may touch the object from now on. */
void sc_keep_off_always(const void *object, size_t size_bytes);

/* The pages are let go of for once: the kernel is about to touch them, nobody knows how much. */
void sc_keep_off_once(const void *object);

/* Are pages of the interval kept off? Those of ranges that are not guarded at all do not count. */
bool sc_keep_off_overlaps(const void *address, size_t size_bytes);

/* For sc_loans_find: the first such pages that the change would protect. */
bool sc_keep_off_find(const struct sc_guard_change *change, struct sc_lent *lent);

#endif
