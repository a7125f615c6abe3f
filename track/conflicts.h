/* The rule by which two operations conflict (SC204, SC501, SC502), and the search for operations
 * that conflict with one which is about to be issued.
 *
 * Two operations conflict if they use a common byte, one of them writes it, and nothing orders
 * them. An operation writes host memory as its direction says. It writes device memory unless it
 * merely reads there. A prefetch neither reads a byte nor changes one, and conflicts with none.
 * Operations whose order is unknown (track/ordering.h) do not conflict either.
 *
 * A later operation on stream 0 is the host's: it frees device memory, ordered only by the host's
 * waits. It conflicts with all that is not known done, except allocations.
 *
 * Locks: every function needs the owner's lock. */
#ifndef SC_TRACK_CONFLICTS_H
#define SC_TRACK_CONFLICTS_H

#include <stdbool.h>

struct sc_op_info;
struct sc_order;
struct sc_ticket;

/* Do the operations use a common byte that one of them writes? Their order is not looked at. */
bool sc_conflicts_share_written_byte(const struct sc_op_info *one, const struct sc_op_info *other);

/* Would the later operation, which is not issued yet, come after the earlier one? */
bool sc_conflicts_is_ordered_after(struct sc_order *order, const struct sc_op_info *later,
                                   const struct sc_ticket *earlier);

#endif
