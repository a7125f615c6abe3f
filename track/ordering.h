/* Tells how surely an operation is ordered as the calls say: certain, possible or unknown.
 *
 * An operation keeps reasons why that is not certain, as bits (common/unsure.h); 0: it is certain.
 * Reasons are joined by |. What they mean differs between the two operations of a conflict. The
 * later one is about to be issued, and is compared with what was issued before it. The earlier one
 * is what later ones are compared with.
 *
 *     reason      as the later one   as the earlier one
 *     LEFT_OUT    possible           possible
 *     GATED       possible           certain
 *     WAITS       unknown            unknown
 *     ENDS        certain            unknown
 *     UNJUDGED    unknown            unknown
 *
 * Operations of unknown order do not conflict. A conflict of possible order is a conflict only if
 * both operations take place. */
#ifndef SC_TRACK_ORDERING_H
#define SC_TRACK_ORDERING_H

#include "common/unsure.h"

/* A larger value is less sure. */
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

/* How surely an earlier and a later operation are ordered, by the reasons of each. */
static inline enum sc_ordering sc_ordering_between(unsigned earlier, unsigned later)
{
    return sc_ordering_join(sc_ordering_of(earlier, SC_AS_EARLIER),
                            sc_ordering_of(later, SC_AS_LATER));
}

#endif
