/* Tells how surely two operations are ordered as the calls of the program say: certain, possible or
 * unknown.
 *
 * An operation keeps the reasons why its order is not certain, as bits (common/unsure.h); 0: it is
 * certain. The same reason means different things for the two operations of a conflict: for the
 * later one, which is about to be issued, and for the earlier one, which was issued before and is
 * compared with it.
 *
 * - LEFT_OUT: possible for both.
 * - GATED: possible for the later one, certain for the earlier one.
 * - WAITS: unknown for both.
 * - ENDS: certain for the later one, unknown for the earlier one.
 * - UNJUDGED: unknown for both.
 *
 * Operations of unknown order do not conflict. A conflict of possible order is a conflict only if
 * both operations take place. */

/* Terms (docs/glossary.md):
 *   gated: of a host function: it waits for a thread of the program
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   unjudged: of an operation of a graph: its order cannot be seen, so nothing about it is
 *       reported
 */

#ifndef SC_TRACK_ORDERING_H
#define SC_TRACK_ORDERING_H

#include "common/unsure.h"

/* From the surest to the least sure. */
enum sc_ordering { SC_ORDER_CERTAIN, SC_ORDER_POSSIBLE, SC_ORDER_UNKNOWN };

enum sc_order_side { SC_AS_LATER, SC_AS_EARLIER };

static inline enum sc_ordering sc_ordering_join(enum sc_ordering left, enum sc_ordering right)
{
    return left > right ? left : right;
}

static inline enum sc_ordering sc_ordering_of(unsigned unsure, enum sc_order_side side)
{
    unsigned possible = SC_UNSURE_LEFT_OUT | (side == SC_AS_LATER ? SC_UNSURE_GATED : 0);
    unsigned unknown =
        SC_UNSURE_WAITS | SC_UNSURE_UNJUDGED | (side == SC_AS_EARLIER ? SC_UNSURE_ENDS : 0);
    if (unsure & unknown)
        return SC_ORDER_UNKNOWN;
    return unsure & possible ? SC_ORDER_POSSIBLE : SC_ORDER_CERTAIN;
}

/* Returns how surely an earlier and a later operation are ordered, by the reasons of each. */
static inline enum sc_ordering sc_ordering_between(unsigned earlier, unsigned later)
{
    return sc_ordering_join(sc_ordering_of(earlier, SC_AS_EARLIER),
                            sc_ordering_of(later, SC_AS_LATER));
}

#endif
