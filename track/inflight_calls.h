/* What wrappers and the guard ask of ranges and operations in flight (track/inflight.h), without
 * seeing their records.
 *
 * Locks: every function needs the tracker's lock. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   guard: page protection of the memory of operations in flight
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   range: host memory that the driver knows: one allocation or one registration
 *   seal: to compare a source for the last time, because the device is about to write it
 *   simple copy: a copy between device and pinned memory, on a stream without ties, with no
 *       conflict
 *   slot: the place of one snapshot in staging memory
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_TRACK_INFLIGHT_CALLS_H
#define SC_TRACK_INFLIGHT_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_touch;
struct sc_inflight;
struct sc_op_info;
struct sc_ops;

/* Remove the range that contains the address, if there is one; remove all ranges of a context that
 * has ended. Their operations stay in flight, in no range. */
void sc_inflight_remove_range_at(struct sc_inflight *inflight, uintptr_t address);
void sc_inflight_remove_ranges_of(struct sc_inflight *inflight, uint32_t context);

/* Returns true if the bytes of the operation's source are final, so that a snapshot can be taken;
 * false if an operation in flight, on whatever stream, still writes them. */
bool sc_inflight_is_stable(struct sc_inflight *inflight, const struct sc_op_info *info);

/* Stores in `found` the operations in flight in the interval of which anything may be reported
 * (their order is known). */
void sc_inflight_find_in(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                         struct sc_ops *found);

/* Seals the sources in the interval: compares them with their copies for the last time, because the
 * device, or the host in the order of a stream, is about to write them. Adds overwritten ones to
 * `overwritten`. */
void sc_inflight_seal(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                      struct sc_ops *overwritten);

/* Seals all sources in managed memory that some work of the device comes after, because any work
 * may write such memory. `later`: the work's stream, and what else it comes after; NULL: seals all
 * of them. Adds overwritten ones to `overwritten`. */
void sc_inflight_seal_managed(struct sc_inflight *inflight, const struct sc_op_info *later,
                              struct sc_ops *overwritten);

/* Releases the slot (the place of its snapshot) of a simple copy to the device that the driver has
 * refused, or that was not made. */
struct sc_simple_copy;
void sc_inflight_refuse_simple_copy(struct sc_inflight *inflight,
                                    const struct sc_simple_copy *copy);

/* Returns true if an operation protects the page of the address against such an access. Operations
 * that are complete, whose pages may still be protected, do not count unless strict=1. */
bool sc_inflight_watches_page(struct sc_inflight *inflight, uintptr_t address, enum sc_touch touch);

#endif
