/* Names for operations and for what was issued so far: plain data, by which others ask the tracker
 * of order (track/order.h). */
#ifndef SC_WORDS_POINTS_H
#define SC_WORDS_POINTS_H

#include <stdbool.h>
#include <stdint.h>

enum sc_stream_kind { SC_STREAM_NONBLOCKING, SC_STREAM_BLOCKING, SC_STREAM_LEGACY };

/* Immutable once shared; counted references. Sorted by stream. */
struct sc_clock;

struct sc_ticket {
    uint32_t stream;
    uint32_t legacy; /* the context's legacy stream if `stream` is a blocking one, else 0 */
    uint64_t number;
    /* Calls on `legacy` that had begun: none of them is surely behind this operation. An operation
     * on a legacy stream has the place of its own call, or 0 where that is unknown. */
    uint64_t epoch;
};

struct sc_point {
    uint32_t stream; /* 0: only what the clocks say */
    uint32_t legacy;
    uint64_t number;
    uint64_t legacy_number;
    uint64_t call; /* so many calls on the legacy stream: `legacy`, or `stream` if that is one */
    struct sc_clock *joined;
    uint64_t work_ticks; /* of the last other work on `stream` before it; 0: that is not known */
};

/* Does the host that waits for the point hear of nothing but the stream's own operations? */
static inline bool sc_order_is_of_one_stream(const struct sc_point *point)
{
    return point->stream && !point->joined && point->call == 0 && point->legacy_number == 0;
}

/* A call on a stream, from before it is made until the driver has it, or has refused it. */
struct sc_order_call {
    uint32_t stream; /* 0: there is nothing to be said at its end */
    bool is_legacy;
    uint64_t place;         /* among the legacy stream's calls: its own, or that of the last one
                               which a call on a blocking stream comes after */
    uint64_t legacy_number; /* operations on the legacy stream that one on a blocking stream comes
                               after */
    uint64_t version;
    struct sc_clock *joined; /* by the legacy stream, before */
    struct sc_clock *waited; /* what the call itself makes its stream wait for */
    struct sc_clock *due;
};

/* For the tickets of what the call issues on a legacy stream; 0 elsewhere. */
static inline uint64_t sc_order_place(const struct sc_order_call *call)
{
    return call->stream && call->is_legacy ? call->place : 0;
}

/* The waits for the host that are not seen (track/unseen.h) and that it stands behind: a bit for
 * each, or for several. */
struct sc_unseen_mark {
    uint64_t waits;
    uint64_t begun; /* how many waits had begun by then; waits that began later do not count */
};

/* What a synchronise waits for. */
enum sc_scope { SC_SCOPE_STREAM, SC_SCOPE_LEGACY, SC_SCOPE_CONTEXT };

#endif
