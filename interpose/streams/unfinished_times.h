/* The times by which interpose/streams/unfinished.h knows what work of a stream, and of a context,
 * may be unfinished: plain data, which the records of streams and contexts have. Only unfinished.c
 * and unfinished.h read and write the members.
 *
 * Every member but those of `joined` is read and written without a lock, in any thread and in
 * signal handlers. */

/* Terms (docs/glossary.md):
 *   blocking stream: a stream without CU_STREAM_NON_BLOCKING
 *   family: a context's legacy stream and its blocking streams
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   join: to merge a point into what a stream, another point or the host has waited for
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */
#ifndef SC_INTERPOSE_STREAMS_UNFINISHED_TIMES_H
#define SC_INTERPOSE_STREAMS_UNFINISHED_TIMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Work of another stream which the stream was told to wait for, by an event. */
struct sc_joined_work {
    _Atomic uint32_t stream; /* the tracker's id of the other stream; 0: the entry is empty */
    /* when the last of that work was issued; UINT64_MAX: the entry is being changed */
    _Atomic uint64_t work_ticks;
    _Atomic uint64_t at_ticks; /* when the stream was told to wait */
    _Atomic bool is_of_host;   /* some of that work may be a host function */
};

/* Of how many other streams it is kept apart that this one waits for their work; what comes from
 * further ones counts as the stream's own. */
enum { SC_JOINED_MAX = 4 };

/* The times of one stream; or those of a family: the legacy stream and all blocking streams of a
 * context. */
struct sc_unfinished {
    _Atomic uint64_t own_ticks;    /* when the last work was issued that may write host memory */
    _Atomic uint64_t joined_ticks; /* the same for work in `joined` */
    _Atomic uint64_t asked_ticks;  /* what is issued from now on is no earlier: not before any wait
                                      of the host for the stream that has begun */
    _Atomic uint64_t done_ticks;   /* the host has waited for what was issued by then */
    /* The last of such work that may be a host function. */
    _Atomic uint64_t own_host_ticks, joined_host_ticks;
    _Atomic uint64_t queued_ticks;   /* the last work that surely was in the stream's own queue */
    _Atomic uint64_t recorded_ticks; /* the latest work before an event that was recorded */
    _Atomic uint64_t since_ticks;    /* when the record became this stream's */
    _Atomic bool is_joining;         /* a thread is changing `joined` */
    struct sc_joined_work joined[SC_JOINED_MAX];
};

/* The times of a context. */
struct sc_context_unfinished {
    _Atomic uint64_t done_ticks;   /* what was issued by then is done, on all its streams */
    _Atomic uint64_t asked_ticks;  /* as a stream's, of waits for the context; and no earlier than
                                      waits_ticks */
    _Atomic uint64_t waits_ticks;  /* when all its streams, and streams to come, were last told to
                                      wait for an event */
    _Atomic uint64_t latest_ticks; /* the latest time that the family has */
    _Atomic uint64_t legacy_ticks; /* the last work on the legacy stream */
    struct sc_unfinished family;
    _Atomic uint64_t written_ticks; /* the last copy to the host that a blocking stream awaits */
};

#endif
