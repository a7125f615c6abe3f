/* Looks for conflicts (track/conflicts.h) among what is in flight, for the files that make up the
 * tracker.
 *
 * Locks: every function needs the owner's lock.
 */
#ifndef SC_TRACK_CONFLICTS_INTERNAL_H
#define SC_TRACK_CONFLICTS_INTERNAL_H

#include "track/inflight.h"

struct sc_ops;

/* False only if nothing conflicts: by the counts of the range, and of what lies on none. */
static inline bool sc_conflicts_may_be(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    const struct sc_range *range = sc_inflight_range(inflight, sc_inflight_home(inflight, info));
    bool writes = sc_direction_writes_host(info->direction);
    return info->kind == SC_DEVICE ||
           sc_inflight_may_conflict(range, writes, info->ticket.stream) ||
           (info->range &&
            sc_inflight_may_conflict(inflight->nowhere, writes, info->ticket.stream));
}

/* What the functions below do where there may be any. */
bool sc_conflicts_find_some(struct sc_inflight *inflight, const struct sc_op_info *info,
                            bool awaited, struct sc_ops *found);

/* Adds the operations that conflict with `info`, which is not issued yet or has just been issued on
 * info->ticket.stream. `awaited`: without those that are complete, or that a snapshot stands for.
 */
static inline void sc_conflicts_find(struct sc_inflight *inflight, const struct sc_op_info *info,
                                     bool awaited, struct sc_ops *found)
{
    if (sc_conflicts_may_be(inflight, info))
        sc_conflicts_find_some(inflight, info, awaited, found);
}

/* Is there one? */
static inline bool sc_conflicts_any(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    return sc_conflicts_may_be(inflight, info) &&
           sc_conflicts_find_some(inflight, info, false, NULL);
}

#endif
