/* Tells whether a stream may still have work other than tracked copies: kernels, graphs, host
 * functions.
 *
 * Such work may write the very memory that a later copy on the stream reads. Then no snapshot of
 * the copy's source can be taken when the copy is issued, since the source has not its final bytes
 * yet. Times tell this: what was issued before a successful wait of the host began is done. (Waits
 * of the device for the host, which the library does not see, are kept by tickets: track/unseen.h.)
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

/* Terms (docs/glossary.md):
 *   blocking stream: a stream without CU_STREAM_NON_BLOCKING
 *   family: a context's legacy stream and its blocking streams
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   join: to merge a point into what a stream, another point or the host has waited for
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   ticks: a time of the processor's counter
 */

#ifndef SC_INTERPOSE_STREAMS_UNFINISHED_H
#define SC_INTERPOSE_STREAMS_UNFINISHED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished_times.h"

struct sc_context;

/* Called when a record gets a new stream, or a context its legacy stream: sets the times by which
 * it is known what work may be unfinished. What the context was told to wait for counts as
 * unfinished. Needs the stream's lock. */
void sc_unfinished_renew(struct sc_stream_record *stream);

/* Notes when work (a kernel, a graph, a wait) was issued on the stream that may write host memory:
 * until the host has waited for it, a later copy's source may still change. Called before the
 * driver's call, and again when the driver has returned, since a wait of another thread may have
 * come in between. `at_least`: a time that was read from the clock, or 0. Returns the work's
 * time. */
uint64_t sc_unfinished_work(struct sc_stream_record *stream, uint64_t at_least);

/* Notes when a kernel or the like was issued on a non-blocking stream on which nothing rare goes on
 * (sc_streams_find_simple): only the stream's own times change. Returns the time. */
uint64_t sc_unfinished_simple_work(struct sc_stream_record *stream, uint64_t at_least);

/* Notes when a kernel or the like was issued on a blocking or legacy stream, and that the stream's
 * own queue has work in it, by which the driver sees that it is busy. Returns the time. */
uint64_t sc_unfinished_queued_work(struct sc_stream_record *stream, uint64_t at_least);

/* Notes when work was issued that may run host functions, or waits for the host. Host functions may
 * write pageable memory; kernels do so only if the device uses such memory directly. So copies of
 * pageable memory look at this time alone. Returns it. */
uint64_t sc_unfinished_host_work(struct sc_stream_record *stream);

/* Called before the stream waits for work elsewhere, which then comes before its own, and may be
 * unfinished. join_of is for a wait for an event. `of`: the stream on which that was recorded; the
 * work is done as soon as the host has waited for it there. NULL: another process's, or a stream
 * that is gone. `work_ticks`: when the last of that work was issued, as in the event's point
 * (track/order.h). Returns the time that was noted. */
void sc_unfinished_join(struct sc_stream_record *stream);
uint64_t sc_unfinished_join_of(struct sc_stream_record *stream, struct sc_stream_record *of,
                               uint64_t work_ticks);

/* Called when the driver has taken work that was noted at this time: returns true if the caller has
 * to note the work again. A wait of the host for the stream has begun since, or an event was
 * recorded, and by times seems to cover the work, although the driver took that only later. Always
 * true of a blocking stream, whose work an event of the legacy stream covers, too. */
bool sc_unfinished_is_overtaken(const struct sc_stream_record *stream, uint64_t ticks);

/* Called before work on a legacy stream is issued (legacy), or an event is recorded there, which
 * counts as work (record): blocking streams come after it. On other streams both do nothing. */
void sc_unfinished_legacy(struct sc_stream_record *stream);
void sc_unfinished_record(struct sc_stream_record *stream);
/* Returns when the last work on the context's legacy stream was issued, in ticks. */
uint64_t sc_unfinished_legacy_ticks(struct sc_context *context);

/* Returns a time, without reading the clock, that is later than all times of the stream; on a
 * blocking or legacy stream later than those of all such streams of the context (its family). */
uint64_t sc_unfinished_now(struct sc_stream_record *stream);

/* Called before all streams of the context and of its green contexts, present and future, are told
 * to wait for an event: what they wait for may be unfinished. Takes the lock of each stream in
 * turn. */
void sc_unfinished_context_waits(struct sc_context *context);

/* Returns when the context, or the primary context of a green one, was last told to wait for an
 * event: all its streams come after that. 0: never. */
uint64_t sc_unfinished_gate_ticks(struct sc_context *context);

/* Called when a wait of the host for the stream, or for the context, begins. Returns the time up to
 * which issued work is done if the wait succeeds. If the whole context may still be waiting for an
 * event, later work is left out. */
uint64_t sc_unfinished_stream_since(struct sc_stream_record *stream);
uint64_t sc_unfinished_context_since(struct sc_context *context);

/* Returns the time of the latest work before an event that is about to be recorded on the stream;
 * 0: there is none. A wait of the host for the event covers what was issued by then. */
uint64_t sc_unfinished_before_event(struct sc_stream_record *stream);
/* Returns the time of the latest work before an event that is about to be recorded on a stream
 * which is no legacy one: its own times suffice. Notes nothing. */
SC_INLINED uint64_t sc_unfinished_before_simple_event(const struct sc_stream_record *stream)
{
    const struct sc_unfinished *unfinished = &stream->unfinished;
    uint64_t own = atomic_load_explicit(&unfinished->own_ticks, memory_order_relaxed);
    uint64_t joined = atomic_load_explicit(&unfinished->joined_ticks, memory_order_relaxed);
    return own > joined ? own : joined;
}

/* Notes that an event is about to be recorded behind work of that time, and returns the time.
 * sc_unfinished_raise_recorded is the rare part, out of line: most events come behind no new
 * work. */
uint64_t sc_unfinished_raise_recorded(struct sc_stream_record *stream, uint64_t before);
SC_INLINED uint64_t sc_unfinished_note_record(struct sc_stream_record *stream, uint64_t before)
{
    uint64_t recorded =
        atomic_load_explicit(&stream->unfinished.recorded_ticks, memory_order_relaxed);
    return sc_likely(recorded >= before) ? before : sc_unfinished_raise_recorded(stream, before);
}

/* Called before an event is recorded on a non-blocking stream on which nothing rare goes on:
 * returns the time of the latest work before it, which a wait for the event covers. Notes that the
 * event was recorded. */
SC_INLINED uint64_t sc_unfinished_simple_record(struct sc_stream_record *stream)
{
    return sc_unfinished_note_record(stream, sc_unfinished_before_simple_event(stream));
}

/* Called after an event was recorded on a legacy stream without blocking streams, which counts as a
 * stream of its own: returns the time of the work before it, which a wait for the event covers.
 * Notes that the event is in the stream's own queue. */
uint64_t sc_unfinished_lone_record(struct sc_stream_record *stream);

/* Called when a wait of the host for the stream, or the context, has succeeded. `since_ticks`: what
 * sc_unfinished_before_event, or the function called when the wait began, has returned. */
void sc_unfinished_stream_done(struct sc_stream_record *stream, uint64_t since_ticks);
void sc_unfinished_context_done(struct sc_context *context, uint64_t since_ticks);

/* Returns true if the host has waited for what was issued on the stream at that time. */
bool sc_unfinished_is_done(struct sc_stream_record *stream, uint64_t issued_ticks);

/* Returns true if the host has waited for all work (kernels, graphs, host functions) before a copy
 * that is issued on the stream now: nothing but the host may still write the copy's source. */
bool sc_unfinished_is_clear(struct sc_stream_record *stream);

/* Returns true if no work that the host has not waited for may write the pageable source of a copy
 * that is issued on the stream now. Only what may be a host function counts, unless the device
 * writes pageable memory itself. */
bool sc_unfinished_spares_pageable(struct sc_stream_record *stream);

/* queued is called when the stream's own queue surely had work in it at that time, by which the
 * driver sees that it is busy; the launch of a graph does not count, since the graph may be empty.
 * written is called when a copy was issued on the stream that writes host memory. */
void sc_unfinished_queued(struct sc_stream_record *stream, uint64_t ticks);
void sc_unfinished_written(struct sc_stream_record *stream);

/* Returns true if the driver may read the source of the stream's next copy too early: the copy
 * comes after work of other streams that may still write host memory, and nothing in the stream's
 * own queue comes after that work, by which the driver would notice. `known`: tracked copies count
 * as such work, too. May be wrong while several threads issue. */
bool sc_unfinished_is_hidden(struct sc_stream_record *stream, bool known);

#endif
