/* Questions to the tracker that change nothing and take no lock, for other modules: is there
 * anything at these addresses? All are safe in a signal handler. */

/* Terms (docs/glossary.md):
 *   in flight: issued, and the host does not know yet that it is done
 *   range: host memory that the driver knows: one allocation or one registration
 *   source: the memory that a copy reads
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_TRACK_VIEWS_H
#define SC_TRACK_TRACK_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"

struct SC_LOCK sc_track;
extern struct sc_track sc_track; /* the process's own */

/* What may be in an interval, for sc_track_may_have. */
enum sc_near {
    SC_NEAR_RANGES = 1,
    SC_NEAR_HELD_OPERATIONS = 2, /* on memory that only the driver frees */
    SC_NEAR_HEAP_OPERATIONS = 4, /* on memory that the program can free or unmap by libc alone */
    SC_NEAR_OPERATIONS = SC_NEAR_HELD_OPERATIONS | SC_NEAR_HEAP_OPERATIONS,
    SC_NEAR_HOLDS = 8,
    /* graphs' uses of memory that the program can free or unmap by libc alone */
    SC_NEAR_HEAP_GRAPHS = 16,
    SC_NEAR_HEAP = SC_NEAR_HEAP_OPERATIONS | SC_NEAR_HOLDS | SC_NEAR_HEAP_GRAPHS,
};
/* Returns false only if nothing of these kinds (enum sc_near) is in the interval. */
bool sc_track_may_have(struct sc_track *track, unsigned what, uintptr_t address, size_t size_bytes);
/* Returns false only if nothing that free() has to look at (SC_NEAR_HEAP) is in the interval.
 * Quicker than sc_track_may_have, since every free() calls it while copies are in flight. */
bool sc_track_heap_may_have(struct sc_track *track, uintptr_t address, size_t size_bytes);

/* Returns false only if no range (host memory known to the driver) is near the object. For callers
 * that are called too often to look further. Only the object's first byte is compared: objects that
 * end in a range begin in its block. */
bool sc_track_range_may_be_near(struct sc_track *track, const void *object);

/* Returns a count of changes of the ranges (host memory known to the driver); it is odd while one
 * is being made. */
uint64_t sc_track_ranges_version(struct sc_track *track);
/* Returns true if the address is in a range (host memory known to the driver) whose pages must not
 * be protected. */
bool sc_track_is_guarding_forbidden(struct sc_track *track, uintptr_t address);
/* Returns true if the host may read sources in the range (host memory known to the driver)
 * directly, without a system call that copes with unreadable pages (SC_SNAPSHOTS_PLAIN). */
bool sc_track_is_plainly_readable(struct sc_track *track, uint32_t range);

#endif
