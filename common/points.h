/* Names for operations (tickets) and for what was issued so far (points): plain data, in which
 * callers ask the tracker about order (track/order.h). */
#ifndef SC_WORDS_POINTS_H
#define SC_WORDS_POINTS_H

#include <stdbool.h>
#include <stdint.h>

enum sc_stream_kind { SC_STREAM_NONBLOCKING, SC_STREAM_BLOCKING, SC_STREAM_LEGACY };

/* For each of several streams, a number. Immutable once shared; references are counted. Sorted by
 * stream. */
struct sc_clock;

/* Names one operation. */
struct sc_ticket {
    uint32_t stream;
    uint32_t legacy; /* the context's legacy stream if `stream` is a blocking one, else 0 */
    uint64_t number;
    /* How many calls on `legacy` had begun when the driver took the operation: none of these is
     * surely behind it. On a legacy stream: the place of the operation's own call, or 0 where that
     * is unknown. */
    uint64_t epoch;
};

/* All work issued on a stream up to a number, with what that had waited for. */
struct sc_point {
    uint32_t stream; /* 0: there is only `joined` */
    uint32_t legacy;
    uint64_t number;
    uint64_t legacy_number;
    uint64_t call; /* up to which place legacy calls are meant: those of `legacy`, or of `stream` if
                      that is a legacy one */
    struct sc_clock *joined;
    uint64_t work_ticks; /* when the last other work on `stream` before the point was issued
                            (sc_ticks()); 0: not known */
};

/* Does a host that waits for the point learn of nothing but operations of its stream? */
static inline bool sc_order_is_of_one_stream(const struct sc_point *point)
{
    return point->stream && !point->joined && point->call == 0 && point->legacy_number == 0;
}

/* What an event stands for that was recorded on a stream without ties. */
struct sc_event_number {
    uint32_t stream;
    uint64_t number, work_ticks; /* as a point's */
};

/* A call on a stream, from before it is made until the driver has accepted or refused it. */
struct sc_order_call {
    uint32_t stream; /* 0: the call did not begin, and need not be ended */
    bool is_legacy;
    uint64_t place; /* a place among the legacy stream's calls: the call's own, or on a blocking
                       stream that of the last one that the call comes after */
    uint64_t legacy_number;  /* blocking: the number of the last operation on the legacy stream that
                                the call comes after */
    uint64_t version;        /* of `joined`: joined_version, or behind_version (track/order.h) */
    struct sc_clock *joined; /* what the legacy stream had joined before the call, or left behind */
    struct sc_clock *waited; /* what the call itself makes its stream wait for */
    struct sc_clock *due;    /* what was due to its stream when it began */
};

/* The epoch for tickets of what the call issues on a legacy stream; 0 on other streams. */
static inline uint64_t sc_order_place(const struct sc_order_call *call)
{
    return call->stream && call->is_legacy ? call->place : 0;
}

/* The unseen waits (track/unseen.h) that an operation stands behind: a bit for each wait, which
 * several waits may share. */
struct sc_unseen_mark {
    uint64_t waits;
    uint64_t begun; /* how many waits had begun by then; waits that began later do not count */
};

/* What a synchronise waits for. */
enum sc_scope { SC_SCOPE_STREAM, SC_SCOPE_LEGACY, SC_SCOPE_CONTEXT };

#endif
