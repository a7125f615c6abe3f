/* The questions that wrappers and the guard ask of ranges and operations in flight
 * (track/inflight.h), without seeing their records.
 *
 * Locks: every function needs the owner's lock. */
#ifndef SC_TRACK_INFLIGHT_CALLS_H
#define SC_TRACK_INFLIGHT_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_touch;
struct sc_inflight;
struct sc_op_info;
struct sc_ops;

/* Remove the range that contains the address, if any; and all ranges of a context that is gone.
 * Operations on them stay in flight, on no range. */
void sc_inflight_remove_range_at(struct sc_inflight *inflight, uintptr_t address);
void sc_inflight_remove_ranges_of(struct sc_inflight *inflight, uint32_t context);

/* Does the operation's source hold its final bytes already, so that a snapshot can be taken? False
 * if an operation in flight, on whatever stream, still writes them. */
bool sc_inflight_is_stable(struct sc_inflight *inflight, const struct sc_op_info *info);

/* Stores in `found` the operations in flight in the interval that are to be judged. */
void sc_inflight_find_in(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                         struct sc_ops *found);

/* Seals the sources in the interval, which the device, or the host in the order of a stream, is
 * about to write: compares them with their copies for the last time. Overwritten ones are added to
 * `overwritten`. */
void sc_inflight_seal(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                      struct sc_ops *overwritten);

/* Seals all sources in managed memory that a piece of the device's work comes after, since any work
 * may write such memory. `later` names the work's stream, and what else it comes after; NULL: seals
 * all of them. Overwritten ones are added to `overwritten`. */
void sc_inflight_seal_managed(struct sc_inflight *inflight, const struct sc_op_info *later,
                              struct sc_ops *overwritten);

/* Gives back the slot of a simple copy to the device that the driver has refused, or that was not
 * made. */
struct sc_simple_copy;
void sc_inflight_refuse_simple_copy(struct sc_inflight *inflight,
                                    const struct sc_simple_copy *copy);

/* Is the page of this address still guarded against such a touch by an operation? False: only for
 * operations that are complete already, if at all. */
bool sc_inflight_watches_page(struct sc_inflight *inflight, uintptr_t address, enum sc_touch touch);

#endif
