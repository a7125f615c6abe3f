/* Search for conflicts (track/conflicts.h) among the operations in flight, for the files that make
 * up the tracker.
 *
 * Locks: every function needs the owner's lock. */
#ifndef SC_TRACK_CONFLICTS_INTERNAL_H
#define SC_TRACK_CONFLICTS_INTERNAL_H

#include "track/inflight.h"

struct sc_ops;

/* Could an operation in flight conflict with `info`? A quick look at counts: those of its range,
 * and of operations on no range. False is certain. */
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

/* The search behind sc_conflicts_find. `found` NULL: ends at the first conflict, and returns
 * whether there is one. */
bool sc_conflicts_search(struct sc_inflight *inflight, const struct sc_op_info *info, bool awaited,
                         struct sc_ops *found);

/* Adds to `found` the operations that conflict with `info`, which is not issued yet or has just
 * been issued on info->ticket.stream. `awaited`: only those that the host would have to wait for,
 * which are not complete and have no snapshot. */
static inline void sc_conflicts_find(struct sc_inflight *inflight, const struct sc_op_info *info,
                                     bool awaited, struct sc_ops *found)
{
    if (sc_conflicts_are_possible(inflight, info))
        sc_conflicts_search(inflight, info, awaited, found);
}

/* Does an operation in flight conflict with `info`? */
static inline bool sc_conflicts_any(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    return sc_conflicts_are_possible(inflight, info) &&
           sc_conflicts_search(inflight, info, false, NULL);
}

#endif
