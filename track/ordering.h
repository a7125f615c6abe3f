/* How surely an operation is ordered as the calls say.
 *
 * An operation keeps the reasons for which that is not certain, as bits; 0: there is none. Reasons
 * are joined by |. What a set of them comes to differs between the two sides of a conflict: the
 * later operation is held against what was issued before it, the earlier one is what later ones are
 * held against.
 *
 *     reason      as the later one   as the earlier one
 *     LEFT_OUT    possible           possible
 *     GATED       possible           certain
 *     WAITS       unknown            unknown
 *     ENDS        certain            unknown
 *     UNJUDGED    unknown            unknown
 *
 * Two operations of unknown order do not conflict. A conflict of possible order is one if both take
 * place.
 */
#ifndef SC_TRACK_ORDERING_H
#define SC_TRACK_ORDERING_H

/* The less sure, the larger. */
enum sc_ordering { SC_ORDER_CERTAIN, SC_ORDER_POSSIBLE, SC_ORDER_UNKNOWN };

enum sc_unsure {
    SC_UNSURE_LEFT_OUT = 1 << 0, /* the launch that has it may leave it out */
    SC_UNSURE_GATED = 1 << 1,    /* it is behind a node that may wait for the program */
    SC_UNSURE_WAITS = 1 << 2,    /* it may wait for the host in a way that is not seen: until then
                                  * the host may touch its bytes, and order it with others */
    SC_UNSURE_ENDS = 1 << 3, /* a node behind it may tell of its end in a way that is not seen */
    SC_UNSURE_UNJUDGED = 1 << 4, /* the host may learn of its end, or a node before it wait, in a
                                  * way that is not seen: it keeps its memory, and is no hazard's */
};

enum { SC_UNSURE_BITS = 5, SC_UNSURE_ALL = (1 << SC_UNSURE_BITS) - 1 };

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

/* Between an earlier operation and a later one, by the reasons of each. */
static inline enum sc_ordering sc_ordering_between(unsigned earlier, unsigned later)
{
    return sc_ordering_join(sc_ordering_of(earlier, SC_AS_EARLIER),
                            sc_ordering_of(later, SC_AS_LATER));
}

#endif
