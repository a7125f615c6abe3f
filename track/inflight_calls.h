/* What calls and touches ask of the ranges and of the operations in flight (track/inflight.h), for
 * callers that do not see their records.
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

/* Removes the range that contains the address, if any; or all ranges of a context that is gone.
 * Operations still on them stay in flight, on no range. */
void sc_inflight_remove_range_at(struct sc_inflight *inflight, uintptr_t address);
void sc_inflight_remove_ranges_of(struct sc_inflight *inflight, uint32_t context);

/* Does the operation's source hold its final bytes already? False if an operation in flight, on
 * whatever stream, still writes them. */
bool sc_inflight_is_stable(struct sc_inflight *inflight, const struct sc_op_info *info);

/* Stores in `found` the operations in flight in the interval that are to be judged. */
void sc_inflight_list(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                      struct sc_ops *found);

/* The device, or the host in order, is about to write the interval. Seals the sources there:
 * compares them with their copies for the last time. Overwritten ones are added to `overwritten`.
 */
void sc_inflight_seal(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                      struct sc_ops *overwritten);

/* Seals all sources in managed memory that work of the device comes after: any work may write such
 * memory. `later` names the work's stream, and what else it comes after. NULL: seals all of them.
 * Overwritten ones are added to `overwritten`. */
void sc_inflight_seal_managed(struct sc_inflight *inflight, const struct sc_op_info *later,
                              struct sc_ops *overwritten);

/* A simple copy to the device that is refused after all, or was not made: its slot goes back to
 * whom it is of. */
struct sc_simple_copy;
void sc_inflight_refuse_simply(struct sc_inflight *inflight, const struct sc_simple_copy *copy);

/* Does the page lie under an operation that is still guarded against such a touch? False: it is
 * protected for the sake of released ones at most. */
bool sc_inflight_watches(struct sc_inflight *inflight, uintptr_t address, enum sc_touch touch);

#endif
