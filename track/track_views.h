/* Questions to the tracker that change nothing and take no lock, for modules outside of it: may
 * there be anything at these addresses? All are safe in a signal handler. */
#ifndef SC_TRACK_TRACK_VIEWS_H
#define SC_TRACK_TRACK_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"

struct SC_LOCK sc_track;
extern struct sc_track sc_track; /* the process's own */

/* What may lie in an interval, for sc_track_may_have. */
enum sc_near {
    SC_NEAR_RANGES = 1,
    SC_NEAR_HELD_OPERATIONS = 2, /* on memory that only the driver frees */
    SC_NEAR_HEAP_OPERATIONS = 4, /* on memory that the program can take away itself */
    SC_NEAR_OPERATIONS = SC_NEAR_HELD_OPERATIONS | SC_NEAR_HEAP_OPERATIONS,
    SC_NEAR_HOLDS = 8,
    /* uses, by graphs, of memory that the program can free or unmap by libc alone */
    SC_NEAR_HEAP_GRAPHS = 16,
    SC_NEAR_HEAP = SC_NEAR_HEAP_OPERATIONS | SC_NEAR_HOLDS | SC_NEAR_HEAP_GRAPHS,
};
/* May something of these kinds (enum sc_near) lie in the interval? False only if nothing does. */
bool sc_track_may_have(struct sc_track *track, unsigned what, uintptr_t address, size_t size_bytes);
/* May something that free() has to look at (SC_NEAR_HEAP) lie in the interval? Quicker than
 * sc_track_may_have, since every free() beside copies in flight asks this. */
bool sc_track_heap_may_have(struct sc_track *track, uintptr_t address, size_t size_bytes);

/* May a range be near the object? For callers that come too often to look further. The object's
 * first byte counts: one that begins in front of the blocks of ranges does not reach into them. */
bool sc_track_range_may_be_near(struct sc_track *track, const void *object);

/* Counts changes of the ranges; odd while one is under way. */
uint64_t sc_track_ranges_version(struct sc_track *track);
/* Is the address in a range whose guarding is forbidden? */
bool sc_track_is_guarding_forbidden(struct sc_track *track, uintptr_t address);
/* May the host read sources in the range directly (SC_SNAPSHOTS_PLAIN)? */
bool sc_track_is_plainly_readable(struct sc_track *track, uint32_t range);

#endif
