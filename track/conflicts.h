/* Which operations conflict with one that is about to be issued.
 *
 * Two operations conflict if they touch a common byte, one of them writes it, and nothing orders
 * them. An operation writes host memory as its direction says. It writes device memory unless it
 * merely reads there. A prefetch neither reads a byte nor changes one, and conflicts with none.
 * Operations whose order is unknown (track/ordering.h) do not conflict either.
 *
 * A later operation on stream 0 is the host's, which frees device memory in no order but that of
 * its waits: it conflicts with all that is not known done, but with no allocation.
 *
 * Locks: every function needs the owner's lock.
 */
#ifndef SC_TRACK_CONFLICTS_H
#define SC_TRACK_CONFLICTS_H

#include "track/inflight.h"

/* Do they use a common byte that one of them writes? Whether they are in order is not asked. */
bool sc_conflicts_clash(const struct sc_op_info *one, const struct sc_op_info *other);

/* Would the later operation, which is not issued yet, come after the earlier one? */
bool sc_conflicts_covers(struct sc_order *order, const struct sc_op_info *later,
                         const struct sc_ticket *earlier);

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

/* What sc_conflicts_visit does where there may be any. */
void sc_conflicts_visit_some(struct sc_inflight *inflight, const struct sc_op_info *info,
                             sc_inflight_visit *visit, void *context);

/* Calls visit for each operation that conflicts with `info`, which is not issued yet or has just
 * been issued on info->ticket.stream, until visit returns false. */
static inline void sc_conflicts_visit(struct sc_inflight *inflight, const struct sc_op_info *info,
                                      sc_inflight_visit *visit, void *context)
{
    if (sc_conflicts_may_be(inflight, info))
        sc_conflicts_visit_some(inflight, info, visit, context);
}

#endif
