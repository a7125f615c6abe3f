/* Knows whether a stream may still have work other than tracked copies: kernels, graphs, host
 * functions.
 *
 * Such work may write the very memory that a later copy on the stream reads. So no snapshot of the
 * copy's source can be taken when the copy is issued. All this is known by times: what was issued
 * before a successful wait of the host began is done. (Waits of the device for the host, which the
 * library does not see, are kept by tickets: track/unseen.h.)
 *
 * Work is noted before the driver is called, and once more when the driver has returned. So a wait
 * of another thread that came in between does not cover the work, however much later the wait
 * began.
 *
 * Times of work are never too early, and times from which a wait counts are never too late
 * (common/ticks.h). So a wait may seem to cover less work than it does, and never more.
 *
 * The clock is not read for work that is no host function. The time of such work may be long past,
 * but is later than all that it is compared with: waits of the host that have begun, what the
 * stream has joined, and the stream's earlier work, so also events that were recorded after that.
 * The legacy stream and the blocking streams of a context are a family: of any two works there, the
 * later one has the later time.
 *
 * Lock-free, thread-safe and signal-safe, except sc_unfinished_context_waits. */
#ifndef SC_INTERPOSE_STREAMS_UNFINISHED_H
#define SC_INTERPOSE_STREAMS_UNFINISHED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sc_stream_record;
struct sc_context;

/* Work of another stream which the stream was told to wait for, by an event. */
struct sc_joined_work {
    _Atomic uint32_t stream; /* the tracker's id of the other stream; 0: the entry is empty */
    /* when the last of that work was issued; UINT64_MAX: the entry is being changed */
    _Atomic uint64_t work_ticks;
    _Atomic uint64_t at_ticks; /* when the stream was told to wait */
    _Atomic bool is_of_host;   /* some of that work may be a host function */
};

/* how many other streams have an entry; work that is joined from further ones counts as the
 * stream's own */
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

/* Prepares the times for a new stream, or for the legacy stream of a new context. What the context
 * was told to wait for counts as unfinished. Needs the stream's lock. */
void sc_unfinished_renew(struct sc_stream_record *stream);

/* Notes work that may write host memory. Called before the driver's call, and again when the driver
 * has returned. `at_least`: a time that was read from the clock, or 0. Returns the work's time. */
uint64_t sc_unfinished_work(struct sc_stream_record *stream, uint64_t at_least);

/* Does the same as sc_unfinished_work for work of the device on a simple stream
 * (sc_streams_find_simple). */
uint64_t sc_unfinished_simple_work(struct sc_stream_record *stream, uint64_t at_least);

/* Does the same as sc_unfinished_work on a stream of a family, for work in the stream's own
 * queue. */
uint64_t sc_unfinished_queued_work(struct sc_stream_record *stream, uint64_t at_least);

/* Does the same as sc_unfinished_work for work that may run host functions. These write
 * pageable memory; kernels do so only if the device uses it directly. A wait of the device for the
 * host counts as such work. */
uint64_t sc_unfinished_host_work(struct sc_stream_record *stream);

/* Note that the stream is about to wait for work elsewhere, which may then be at work before its
 * own. `of`: the stream of an event that the work stands before; the work is done as soon as the
 * host has waited for it there. NULL: another process's, or a stream that is gone. `work_ticks`:
 * when the last of that work was issued, as in the event's point (track/order.h). Returns the time
 * that was noted. */
void sc_unfinished_join(struct sc_stream_record *stream);
uint64_t sc_unfinished_join_of(struct sc_stream_record *stream, struct sc_stream_record *of,
                               uint64_t work_ticks);

/* Has a wait of the host for the stream begun since that time was noted there, or was an event
 * recorded? What the host has waited for then may seem to cover what was noted, which the driver
 * had only later. */
bool sc_unfinished_is_overtaken(const struct sc_stream_record *stream, uint64_t ticks);

/* Note that work on the legacy stream is about to be issued; note that an event is about to be
 * recorded there, which counts as work. On other streams both do nothing. */
void sc_unfinished_legacy(struct sc_stream_record *stream);
void sc_unfinished_record(struct sc_stream_record *stream);
/* Returns when the last such work was issued. */
uint64_t sc_unfinished_legacy_ticks(struct sc_context *context);

/* Returns a time, without reading the clock, that is later than all times of the stream, and on a
 * stream of a family later than all times of the family. */
uint64_t sc_unfinished_now(struct sc_stream_record *stream);

/* Notes that all streams of the context and of its green contexts, present and future, are about to
 * wait for an event. Takes the lock of each stream in turn. */
void sc_unfinished_context_waits(struct sc_context *context);

/* Returns when the context, or its primary context, was last told to wait for an event. */
uint64_t sc_unfinished_gate_ticks(struct sc_context *context);

/* Called when a wait of the host for the stream, or for the context, begins. Returns the time up to
 * which issued work is done if the wait succeeds. If the whole context may still be waiting for an
 * event, later work is left out. */
uint64_t sc_unfinished_stream_since(struct sc_stream_record *stream);
uint64_t sc_unfinished_context_since(struct sc_context *context);

/* Returns the time of the latest work before an event that is about to be recorded on the stream;
 * 0: there is none. A wait of the host for the event covers what was issued by then. */
uint64_t sc_unfinished_before_event(struct sc_stream_record *stream);
/* Do the same as sc_unfinished_before_event on a non-blocking stream. The first is for times alone,
 * the second for a record: it notes when the event was recorded. */
uint64_t sc_unfinished_before_simple_event(const struct sc_stream_record *stream);
uint64_t sc_unfinished_simple_record(struct sc_stream_record *stream);

/* Does the same as sc_unfinished_before_simple_event on a legacy stream that has no blocking stream
 * beside it, to come after the record. Notes that the event is in the stream's own queue. */
uint64_t sc_unfinished_lone_record(struct sc_stream_record *stream);

/* Notes that a wait of the host has succeeded. `since_ticks`: what sc_unfinished_before_event, or
 * the function called when the wait began, has returned. */
void sc_unfinished_stream_done(struct sc_stream_record *stream, uint64_t since_ticks);
void sc_unfinished_context_done(struct sc_context *context, uint64_t since_ticks);

/* Returns true if the host has waited for what was issued on the stream at that time. */
bool sc_unfinished_is_done(struct sc_stream_record *stream, uint64_t issued_ticks);

/* Returns true if no unfinished work may write the source of a copy that is issued now. */
bool sc_unfinished_is_clear(struct sc_stream_record *stream);

/* Does the same as sc_unfinished_is_clear for a source in pageable memory. */
bool sc_unfinished_spares_pageable(struct sc_stream_record *stream);

/* sc_unfinished_queued notes that the stream's own queue had work in it at that time; the launch of
 * a graph does not count, since the graph may be empty. sc_unfinished_written notes that a copy
 * which was issued on the stream writes host memory. */
void sc_unfinished_queued(struct sc_stream_record *stream, uint64_t ticks);
void sc_unfinished_written(struct sc_stream_record *stream);

/* Returns true if the stream's next operation comes after work of other streams that may still
 * write host memory, so that its source is not final, while nothing in the stream's own queue comes
 * after that work. `known`: tracked copies count as such work, too. May be wrong while several
 * threads issue. */
bool sc_unfinished_is_hidden(struct sc_stream_record *stream, bool known);

#endif
