/* Identifies operations (tickets) and sets of all work issued so far (points): plain data, for
 * queries about the order of work (track/order.h). */

/* Terms (docs/glossary.md):
 *   blocking stream: a stream without CU_STREAM_NON_BLOCKING
 *   clock: what was waited for on other streams: a number for each of several streams
 *   epoch: how many calls on the legacy stream had begun when the driver took the operation
 *   join: to merge a point into what a stream, another point or the host has waited for
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   tie: what the next call on a stream may come after besides the stream's own work
 */

#ifndef SC_WORDS_POINTS_H
#define SC_WORDS_POINTS_H

#include <stdbool.h>
#include <stdint.h>

enum sc_stream_kind { SC_STREAM_NONBLOCKING, SC_STREAM_BLOCKING, SC_STREAM_LEGACY };

/* A vector clock: a number for each of several streams, sorted by stream. Immutable once shared;
 * references are counted. */
struct sc_clock;

/* The name of one operation: the `number`-th one on its stream, with what tells its order against
 * the legacy stream. */
struct sc_ticket {
    uint32_t stream;
    uint32_t legacy; /* the context's legacy stream if `stream` is a blocking one, else 0 */
    uint64_t number;
    /* How many calls on `legacy` had begun when the driver accepted the operation: none of these is
     * certain to run after it. On a legacy stream: the place of the operation's own call among that
     * stream's calls; 0: unknown. */
    uint64_t epoch;
};

/* A point: all work issued on a stream up to a number, with all that this work had waited for. */
struct sc_point {
    uint32_t stream; /* 0: the point has only `joined` */
    uint32_t legacy;
    uint64_t number;
    uint64_t legacy_number;
    /* The point includes the calls on `legacy` up to this place (on `stream`, if that is a legacy
     * one). */
    uint64_t call;
    struct sc_clock *joined;
    /* When the last unnumbered work on `stream` before the point was issued (sc_ticks()); 0:
     * unknown. */
    uint64_t work_ticks;
};

/* Does the point (all work issued on a stream so far) stand for work of its own stream alone? Then
 * to wait for it proves nothing about other streams. It stands for more if that work had waited
 * for others (joined), or for a legacy stream. */
static inline bool sc_order_is_of_one_stream(const struct sc_point *point)
{
    return point->stream && !point->joined && point->call == 0 && point->legacy_number == 0;
}

/* What a CUDA event stands for that was recorded on a stream whose next call follows that stream's
 * own work alone. */
struct sc_event_number {
    uint32_t stream;
    uint64_t number, work_ticks; /* as a point's */
};

/* A call on a stream, from before it is made until the driver has accepted or refused it. */
struct sc_order_call {
    uint32_t stream; /* 0: the call did not begin, and need not be ended */
    bool is_legacy;
    /* A place among the legacy stream's calls: that of this call or, on a blocking stream, that of
     * the last call that this one is ordered after. */
    uint64_t place;
    /* On a blocking stream: the number of the last operation on the legacy stream that the call is
     * ordered after. */
    uint64_t legacy_number;
    uint64_t version;        /* the version of `joined`: the legacy stream's joined_version or, on a
                                blocking stream, its behind_version (track/order.h) */
    struct sc_clock *joined; /* what the legacy stream had waited for before the call */
    struct sc_clock *waited; /* what the call itself makes its stream wait for */
    struct sc_clock *due;    /* what its stream was still to wait for when it began */
};

/* Returns the `epoch` for operations that the call issues (struct sc_ticket): on a legacy stream
 * the call's place among its calls; 0 on other streams. */
static inline uint64_t sc_order_place(const struct sc_order_call *call)
{
    return call->stream && call->is_legacy ? call->place : 0;
}

/* Unseen waits are waits of the device for the host whose end no call of the driver shows
 * (track/unseen.h). This says which of them an operation is ordered after: a bit for each; several
 * waits may share a bit. */
struct sc_unseen_mark {
    uint64_t waits;
    /* How many unseen waits had begun when the operation was issued; later ones do not count. */
    uint64_t begun;
};

/* What a synchronise waits for: one stream; a legacy stream, with all blocking streams of its
 * context; all streams of the context. */
enum sc_scope { SC_SCOPE_STREAM, SC_SCOPE_LEGACY, SC_SCOPE_CONTEXT };

#endif
