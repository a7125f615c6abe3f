/* What may still be at work on a stream besides the copies that we know.
 *
 * A kernel, a graph or a host function may write the very memory that a later copy on the stream
 * reads. So a copy behind such work cannot be snapshotted when it is issued. All this is told by
 * times: what was issued before a wait of the host that succeeded is done. (Waits for the host that
 * are not seen, behind which nothing is guarded either, are known by tickets: track/unseen.h.)
 *
 * Work is noted before the driver is called, and once more when it has returned: a wait of another
 * thread that came in between does not cover it, however much later it began.
 *
 * Times of work are never too early, and those from which a wait counts never too late
 * (common/ticks.h). So a wait may seem to cover less than it does, and never more.
 *
 * Lock-free but for sc_unfinished_context_waits, thread-safe, and so safe in a signal handler but
 * for that one.
 */
#ifndef SC_INTERPOSE_STREAMS_UNFINISHED_H
#define SC_INTERPOSE_STREAMS_UNFINISHED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sc_stream_record;
struct sc_context;

/* Work of another stream before an event for which the stream has waited. */
struct sc_joined_work {
    _Atomic uint32_t stream;     /* the tracker's id; 0: there is none */
    _Atomic uint64_t work_ticks; /* the last of it; UINT64_MAX: that is being changed */
    _Atomic uint64_t at_ticks;   /* when the stream was told to wait */
    _Atomic bool is_of_host;     /* some of it may be a function of the host's */
};

enum { SC_JOINED_MAX = 4 }; /* streams; what comes from others counts as the stream's own work */

/* What a stream has; or the legacy and all blocking streams of a context together. */
struct sc_unfinished {
    _Atomic uint64_t own_ticks;      /* the last work that may write host memory */
    _Atomic uint64_t own_host_ticks; /* the last of it that may be a function of the host's */
    _Atomic uint64_t joined_ticks, joined_host_ticks; /* the same of what is in `joined` */
    _Atomic uint64_t done_ticks;
    _Atomic uint64_t queued_ticks; /* the last that surely was in the stream's own queue */
    _Atomic uint64_t since_ticks;  /* when the record became this stream's */
    _Atomic bool is_joining;       /* a thread changes `joined` */
    struct sc_joined_work joined[SC_JOINED_MAX];
};

/* What a context has. */
struct sc_context_unfinished {
    struct sc_unfinished family;
    _Atomic uint64_t legacy_ticks;  /* the last work on the legacy stream */
    _Atomic uint64_t written_ticks; /* the last copy to the host that a blocking stream awaits */
    _Atomic uint64_t done_ticks;    /* what was issued by then is done, on any stream */
    _Atomic uint64_t waits_ticks;   /* all its streams, and those to come, wait for an event */
};

/* The record is a new stream's, or a new context's legacy stream's: what the context waits for may
 * be at work. Needs the stream's lock. */
void sc_unfinished_renew(struct sc_stream_record *stream);

/* Work that may write host memory. Call it before the driver is called, and again when the driver
 * has returned. Returns the time. */
uint64_t sc_unfinished_work(struct sc_stream_record *stream);

/* The same of work of the device's on a simple stream (sc_streams_find_simple). */
uint64_t sc_unfinished_simple_work(struct sc_stream_record *stream);

/* The same of work that may run functions of the host's: these write pageable memory, and kernels
 * do only where the device reads it in place. A wait for the host is such work, too. */
uint64_t sc_unfinished_host_work(struct sc_stream_record *stream);

/* The same for work that waits for work elsewhere. Where that stands before an event of another
 * stream it is kept which: it is done as soon as the host has waited for it there. `of`: NULL:
 * another process's, or of a stream that is gone. `work_ticks`: of the last of it, as the event's
 * point has it (track/order.h). */
void sc_unfinished_join(struct sc_stream_record *stream);
void sc_unfinished_join_of(struct sc_stream_record *stream, struct sc_stream_record *of,
                           uint64_t work_ticks);

/* Has there never been any such work? */
bool sc_unfinished_no_work_ever(void);

/* Work on the legacy stream is about to be issued. The record of an event counts as work there. */
void sc_unfinished_legacy(struct sc_stream_record *stream);
void sc_unfinished_record(struct sc_stream_record *stream);
uint64_t sc_unfinished_legacy_ticks(struct sc_context *context); /* the last such work */

/* All streams of the context, those of its green ones and those to come are about to wait for an
 * event. Takes the lock of each stream in turn. */
void sc_unfinished_context_waits(struct sc_context *context);

/* When the context, or its primary context, was last told to wait for an event. */
uint64_t sc_unfinished_gate_ticks(struct sc_context *context);

/* A wait of the host for the stream, or for the context, begins now. What was issued up to the
 * returned time is done if the wait succeeds. A wait of the whole context for an event may still be
 * going on; what came after that one is left out. */
uint64_t sc_unfinished_stream_since(struct sc_stream_record *stream);
uint64_t sc_unfinished_context_since(struct sc_context *context);

/* The last work before an event that is about to be recorded on the stream, 0 for none. The host's
 * wait for the event is one for what was issued up to then. */
uint64_t sc_unfinished_before_event(struct sc_stream_record *stream);
uint64_t
sc_unfinished_before_simple_event(const struct sc_stream_record *stream); /* on a simple one */

/* The host's wait has succeeded. `since_ticks` is what a call above returned. */
void sc_unfinished_stream_done(struct sc_stream_record *stream, uint64_t since_ticks);
void sc_unfinished_context_done(struct sc_context *context, uint64_t since_ticks);

/* Has the host waited for what was issued on the stream at that time? */
bool sc_unfinished_is_done(struct sc_stream_record *stream, uint64_t issued_ticks);

/* True if nothing is at work that may write the source of a copy issued now. */
bool sc_unfinished_is_clear(struct sc_stream_record *stream);

/* The same for a source in pageable memory. */
bool sc_unfinished_spares_pageable(struct sc_stream_record *stream);

/* The stream's own queue has had something in it since that time; the launch of a graph does not
 * count, since the graph may be empty. A copy that was issued on the stream writes host memory. */
void sc_unfinished_queued(struct sc_stream_record *stream, uint64_t ticks);
void sc_unfinished_written(struct sc_stream_record *stream);

/* True if the stream's next operation comes after work of other streams that may still write host
 * memory, and nothing in the stream's own queue comes after that work. With `known`, copies that we
 * know of count as such work, too. Where threads issue at the same time the answer may be wrong. */
bool sc_unfinished_is_hidden(struct sc_stream_record *stream, bool known);

#endif
