/* The part of the tracker that every free() of the process, and every copy, reads first. All
 * functions are lock-free, and safe in a signal handler. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   guard: page protection of the memory of operations in flight
 *   join: to merge a point into what a stream, another point or the host has waited for
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   range: host memory that the driver knows: one allocation or one registration
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   unfinished work: other work that may still run on a stream, as far as noted times tell
 */

#ifndef SC_TRACK_TRACK_FRONT_H
#define SC_TRACK_TRACK_FRONT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"

struct SC_LOCK sc_track;
extern struct sc_track sc_track; /* the process's own */

/* The front of struct sc_track. */
struct sc_track_front {
    _Atomic uint32_t libc_watch; /* not 0: free and munmap must look closer */
    bool watches_device; /* device memory is watched; set before the first stream is added */
    /* The bounds of the blocks in which ranges are or were (track/blocks.h). */
    _Atomic uintptr_t ranges_highest, ranges_not_lowest;
};

/* Returns true if free() and munmap() have to look whether the device uses the memory. One load. */
static inline bool sc_track_watches_libc(struct sc_track *track)
{
    const struct sc_track_front *front = (const struct sc_track_front *)track;
    return atomic_load_explicit(&front->libc_watch, memory_order_relaxed) != 0;
}

/* Does the interval, which is not empty, lie between the lowest and the highest memory that was
 * ever a range? Most memory does not. Two loads, which share a cache line with those of free(). */
static inline bool sc_track_is_among_ranges(struct sc_track *track, uintptr_t address,
                                            size_t size_bytes)
{
    const struct sc_track_front *front = (const struct sc_track_front *)track;
    return address <= atomic_load_explicit(&front->ranges_highest, memory_order_relaxed) &&
           ~(address + size_bytes - 1) <=
               atomic_load_explicit(&front->ranges_not_lowest, memory_order_relaxed);
}

/* Is device memory watched (option device=1)? If so, also while all streams of the process are
 * joined with each other, since a stream that is made later has no order with their unfinished
 * work. Lock-free. */
static inline bool sc_track_watches_device(struct sc_track *track)
{
    return ((const struct sc_track_front *)track)->watches_device;
}

/* Returns true if operations are guarded until the host knows that they are done, and not only
 * until they are complete (strict=1). */
bool sc_track_guards_until_known(struct sc_track *track);
/* Returns how many operations on host memory were issued so far. */
uint64_t sc_track_operations(struct sc_track *track);

#endif
