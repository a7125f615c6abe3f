/* The search for conflicts (track/conflicts.h) among the operations in flight, for the files that
 * make up the tracker.
 *
 * Locks: every function needs the tracker's lock. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   range: host memory that the driver knows: one allocation or one registration
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_CONFLICTS_INTERNAL_H
#define SC_TRACK_CONFLICTS_INTERNAL_H

#include "track/inflight.h"

struct sc_ops;

/* Returns false only if no operation in flight conflicts with `info` (uses a common byte, writes or
 * is written, in no certain order). Quick: looks at the counts of operations on the range of
 * `info`, and of operations in no range. */
static inline bool sc_conflicts_are_possible(struct sc_inflight *inflight,
                                             const struct sc_op_info *info)
{
    const struct sc_range *range =
        sc_inflight_range(inflight, sc_inflight_list_owner(inflight, info));
    bool writes = sc_direction_writes_host(info->direction);
    return info->kind == SC_DEVICE ||
           sc_inflight_may_conflict(range, writes, info->ticket.stream) ||
           (info->range &&
            sc_inflight_may_conflict(inflight->nowhere, writes, info->ticket.stream));
}

/* Searches for the operations of sc_conflicts_find. With `found` NULL the search ends at the first
 * conflict. Returns whether the search ended so. */
bool sc_conflicts_search(struct sc_inflight *inflight, const struct sc_op_info *info, bool awaited,
                         struct sc_ops *found);

/* Adds to `found` the operations in flight that conflict with `info`. `info` is not issued yet, or
 * was just issued on info->ticket.stream. `awaited`: adds only those that the host would have to
 * wait for, which are not complete and of which the device reads no snapshot. */
static inline void sc_conflicts_find(struct sc_inflight *inflight, const struct sc_op_info *info,
                                     bool awaited, struct sc_ops *found)
{
    if (sc_conflicts_are_possible(inflight, info))
        sc_conflicts_search(inflight, info, awaited, found);
}

/* Returns true if an operation in flight conflicts with `info`. */
static inline bool sc_conflicts_any(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    return sc_conflicts_are_possible(inflight, info) &&
           sc_conflicts_search(inflight, info, false, NULL);
}

#endif
