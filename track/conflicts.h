/* The rule by which two operations conflict (SC204, SC501, SC502), and the search for operations
 * that conflict with one which is about to be issued.
 *
 * Two operations conflict if they use a common byte, at least one of them writes it, and nothing
 * orders them. Whether an operation writes host memory follows from its direction. An operation
 * writes device memory unless it is known to only read there. A prefetch neither reads nor writes,
 * and conflicts with nothing. Operations whose order is unknown (track/ordering.h) do not conflict
 * either.
 *
 * A later operation with stream 0 is an action of the host: it frees device memory, and comes only
 * after what the host has waited for. It conflicts with every operation that the host does not know
 * to be done, except allocations.
 *
 * Locks: every function needs the lock of the tracker that owns the operations. */

/* Terms (docs/glossary.md):
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_CONFLICTS_H
#define SC_TRACK_CONFLICTS_H

#include <stdbool.h>

struct sc_op_info;
struct sc_order;
struct sc_ticket;

/* Returns true if the operations use a common byte and at least one of them writes it. Their order
 * is not considered. */
bool sc_conflicts_share_written_byte(const struct sc_op_info *one, const struct sc_op_info *other);

/* Returns true if the later operation, which is not issued yet, is ordered after the earlier one:
 * by its stream, by what the stream has waited for, or by `later->after`. */
bool sc_conflicts_is_ordered_after(struct sc_order *order, const struct sc_op_info *later,
                                   const struct sc_ticket *earlier);

#endif
