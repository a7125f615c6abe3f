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

/* Would the later operation, which is not issued yet, come after the earlier one? */
bool sc_conflicts_covers(struct sc_order *order, const struct sc_op_info *later,
                         const struct sc_ticket *earlier);

/* Calls visit for each operation that conflicts with `info`, which is not issued yet or has just
 * been issued on info->ticket.stream, until visit returns false. */
void sc_conflicts_visit(struct sc_inflight *inflight, const struct sc_op_info *info,
                        sc_inflight_visit *visit, void *context);

#endif
