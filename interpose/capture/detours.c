#include "interpose/capture/detours.h"
#include "cupti_hooks/current_call.h"

#include <errno.h>

#include "common/checks.h"
#include "common/hazard_words.h"
#include "common/mutex.h"
#include "common/points.h"
#include "common/trace.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"
#include "interpose/driver/replaying.h"
#include "interpose/driver/wrap.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "track/events.h"
#include "track/track.h"
#include "track/track_order.h"

#include "common/poison.h"

/* Makes an event of the library's in the current context; NULL: the driver refuses. */
static CUevent make_event(void)
{
    CUevent event = NULL;
    return sc_real.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS ? event : NULL;
}

/* ---- the edges ---- */

/* Is it the per-thread default stream of another thread, which this thread cannot name? So nothing
 * can be recorded on it from here. */
static bool is_of_other_thread(const struct sc_stream_record *stream)
{
    return stream->owner && !sc_stream_is_gone(stream) && stream->owner != sc_thread_id();
}

/* Is it a blocking stream that this thread can name? An operation that is made on the private
 * stream in place of the legacy one (a detour) comes after the earlier work of such streams, and
 * before their later work. */
static bool is_own_blocking(const struct sc_stream_record *stream)
{
    return stream->kind == SC_STREAM_BLOCKING && !sc_stream_is_gone(stream) &&
           !is_of_other_thread(stream);
}

/* Locks the stream and returns true, if it is a stream of this context for which `is_wanted`
 * returns true. Both are checked again under the lock, since the stream may have been destroyed
 * meanwhile, and its record given to another stream. */
static bool lock_if(bool (*is_wanted)(const struct sc_stream_record *),
                    struct sc_stream_record *stream, const struct sc_context *context)
    SC_TRY_ACQUIRES(true, stream->lock)
{
    if (!is_wanted(stream))
        return false;
    sc_mutex_lock(&stream->lock);
    bool wanted = is_wanted(stream) && stream->context == context;
    if (!wanted)
        sc_mutex_unlock(&stream->lock);
    return wanted;
}

/* Records a fence on the stream: an event behind its present work, for which an operation on the
 * private stream (a detour) waits if this stream captures later and cannot be asked for an event.
 * Not while it captures: the event would be captured. */
static void record_fence(void *unused, struct sc_stream_record *stream)
{
    (void)unused;
    SC_LOCKED(&stream->lock);
    if (is_own_blocking(stream) && !sc_streams_is_capturing(stream))
        sc_marks_fence_locked(stream);
}

/* Called before a whole context waits for an event: records a fence on each of its streams. */
void sc_detours_fence_context(struct sc_context *context)
{
    if (sc_captures_are_repaired())
        sc_streams_each_ever(context, record_fence, NULL);
}

/* The waits for events by which a detour is put in order: before it with `event` on other streams,
 * or behind it with `event` on the private stream. */
struct edges {
    struct sc_context *context;
    CUstream private;
    CUevent event;
    bool incomplete; /* some work has no event of ours behind it */
};

/* Makes the private stream wait for the event; NULL: there is none to wait for. */
static void make_private_wait(const struct edges *edges, CUevent event)
{
    if (event)
        sc_real.cuStreamWaitEvent(edges->private, event, 0);
}

/* Is it the per-thread default stream of another thread, or of a thread that has ended? Nothing can
 * be recorded there from here, and its last work may still be under way. */
static bool may_be_foreign(const struct sc_stream_record *stream)
{
    return stream->owner && (sc_stream_is_gone(stream) || is_of_other_thread(stream));
}

/* Makes the private stream wait for the work of another thread's default stream, by the latest
 * events that the other thread has recorded there for the library. If work behind these may be
 * unfinished, the order is `incomplete`, and no detour can be made. */
static void come_after_foreign(struct edges *edges, struct sc_stream_record *stream)
    SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    uint64_t tail = sc_marks_tail_ticks(stream);
    make_private_wait(edges, sc_marks_fence_of_locked(stream));
    make_private_wait(edges, sc_marks_newest_locked(stream));
    edges->incomplete |= !sc_unfinished_is_done(stream, tail);
}

/* Makes the private stream wait for the stream's present work: by an event that is recorded there
 * now, or, if the stream captures, by its fence, an event that was recorded before it began. */
static void come_after_stream(struct edges *edges, struct sc_stream_record *stream)
    SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    if (sc_streams_is_capturing(stream) || sc_marks_is_fenced(stream))
        make_private_wait(edges, sc_marks_fence_of_locked(stream));
    else if (sc_real.cuEventRecord(edges->event, stream->handle) == CUDA_SUCCESS)
        make_private_wait(edges, edges->event);
}

/* Called before a detour for each stream of the context: makes the private stream wait for the
 * stream's work, if the legacy stream would. A stream that is destroyed meanwhile is passed over:
 * the library's marker stream, for which the private stream waits last, comes after its work. */
static void order_private_after(void *argument, struct sc_stream_record *stream) SC_UNFOLLOWED
{
    struct edges *edges = argument;
    bool foreign = lock_if(may_be_foreign, stream, edges->context);
    if (!foreign && !lock_if(is_own_blocking, stream, edges->context))
        return;
    if (foreign)
        come_after_foreign(edges, stream);
    else
        come_after_stream(edges, stream);
    sc_mutex_unlock(&stream->lock);
}

/* Called when `later` was made to wait for `earlier`: kernels and host functions that may still run
 * there (unfinished work) may write the source of a later copy on `later`, so that is noted. */
static void note_joined_work(struct sc_stream_record *earlier, struct sc_stream_record *later)
{
    if (!sc_unfinished_is_clear(earlier))
        sc_unfinished_join(later);
}

/* Called behind an operation on the private stream (a detour), for each stream of the context:
 * makes the stream's later work wait for it, if it would wait for the legacy stream. A stream that
 * captures cannot wait now, nor can one that only another thread can name: it owes the wait, until
 * its capture has ended or its thread uses it next. The order is noted at once in any case. */
static void order_stream_after(void *argument, struct sc_stream_record *stream) SC_UNFOLLOWED
{
    const struct edges *edges = argument;
    bool foreign = lock_if(is_of_other_thread, stream, edges->context);
    if (!foreign && !lock_if(is_own_blocking, stream, edges->context))
        return;
    stream->owes_wait = foreign || sc_streams_is_capturing(stream);
    if (!stream->owes_wait)
        sc_real.cuStreamWaitEvent(stream->handle, edges->event, 0);
    uint32_t id = stream->id;
    sc_mutex_unlock(&stream->lock);
    note_joined_work(edges->context->detours.stream, stream);
    SC_TRACKED(sc_events_note_wait(track.events, track.order, id, (uintptr_t)edges->event));
}

/* Makes the stream wait for the context's latest operation on the private stream (a detour), if it
 * could not wait when that was made (it owes the wait), unless it still captures. */
static void make_owed_wait(void *argument, struct sc_stream_record *stream)
{
    const struct edges *edges = argument;
    if (!lock_if(is_own_blocking, stream, edges->context))
        return;
    if (stream->owes_wait && !sc_streams_is_capturing(stream)) {
        sc_real.cuStreamWaitEvent(stream->handle, edges->event, 0);
        stream->owes_wait = false;
    }
    sc_mutex_unlock(&stream->lock);
}

/* ---- the private stream ---- */

/* Contexts that have a private stream, the latest first. They are never taken out. */
static _Atomic(struct sc_context *) detoured;

/* Makes the private stream, on which operations of the legacy stream run while a capture forbids
 * them there (detours), and the two events by which they are ordered, when they are first needed.
 * Returns false if that fails: then the driver refuses the operation, as without the library. */
static bool make_private_stream(struct sc_context *context)
{
    struct sc_context_detours *own = &context->detours;
    CUstream handle = NULL;
    if (own->stream)
        return true;
    own->before = own->before ? own->before : make_event();
    own->after = own->after ? own->after : make_event();
    if (!own->before || !own->after ||
        sc_real.cuStreamCreate(&handle, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
        return false;
    sc_streams_created(handle, 0);
    own->stream = sc_streams_find(handle, /*per_thread=*/false);
    if (own->stream) {
        context->detours.next = atomic_load(&detoured);
        while (!atomic_compare_exchange_weak(&detoured, &context->detours.next, context))
            continue;
    }
    sc_nvtx_name_stream(handle, "safecopy: detours of the legacy stream");
    return own->stream != NULL;
}

/* Makes the private stream wait for the legacy stream's earlier work: by an event on the library's
 * marker stream, which comes after that work. On the legacy stream itself none can be recorded. */
static void come_after_legacy(struct sc_context *context, const struct edges *edges)
{
    CUstream marker = sc_marks_marker(context);
    if (marker && sc_real.cuEventRecord(edges->event, marker) == CUDA_SUCCESS)
        make_private_wait(edges, edges->event);
}

/* Returns the waits of a detour of this context, by this event. The private stream exists. */
static struct edges edges_of(struct sc_context *context, CUevent event)
{
    return (struct edges){
        .context = context, .private = context->detours.stream->handle, .event = event};
}

/* Called before a detour, with the context current: makes the private stream wait for all that the
 * legacy stream would have waited for, and notes that order. Returns false if that is impossible:
 * some work has no event of the library's behind it, or there is no private stream. The event
 * stands for that work from now on even if there is no detour. */
static bool order_before(struct sc_context *context)
{
    SC_RELAXED();
    sc_mutex_lock(&context->detours.lock);
    bool made = make_private_stream(context);
    if (made) {
        struct edges edges = edges_of(context, context->detours.before);
        struct sc_order_call call; /* a call that the driver never gets: only its point is wanted */
        struct sc_point before;
        sc_track_begin_record(&sc_track, context->legacy, &call, &before);
        sc_track_end_record(&sc_track, &call, /*issued=*/false);
        sc_streams_each(context, order_private_after, &edges);
        /* also after what streams that were destroyed meanwhile have left */
        come_after_legacy(context, &edges);
        made = !edges.incomplete;
        sc_track_set_event(&sc_track, (uintptr_t)edges.event, &before);
    }
    if (made) {
        SC_TRACKED(sc_events_note_wait(track.events, track.order, context->detours.stream->id,
                                       (uintptr_t)context->detours.before));
        note_joined_work(context->legacy_stream, context->detours.stream);
    }
    sc_mutex_unlock(&context->detours.lock);
    return made;
}

/* Does an open capture of a blocking stream forbid operations on the current context's legacy
 * stream? The driver is asked by a question that disturbs no capture (docs/driver.md). */
static bool legacy_is_blocked(void)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return sc_real.cuStreamIsCapturing && sc_real.cuStreamIsCapturing(CU_STREAM_LEGACY, &status) ==
                                              CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

/* Makes the legacy stream wait for the latest operation on the private stream (a detour), if it
 * could not yet (it owes the wait), unless a capture still forbids operations there. Pre: the
 * context is current, and its detours are locked. */
static void make_wait_of_legacy(struct sc_context *context)
{
    if (!context->legacy_stream->owes_wait || legacy_is_blocked())
        return;
    sc_real.cuStreamWaitEvent(CU_STREAM_LEGACY, context->detours.after, 0);
    SC_TRACKED(sc_events_note_wait(track.events, track.order, context->legacy,
                                   (uintptr_t)context->detours.after));
    sc_unfinished_legacy(context->legacy_stream);
    note_joined_work(context->detours.stream, context->legacy_stream);
    context->legacy_stream->owes_wait = false;
}

/* Called behind an operation on the private stream (a detour): makes later work of the context's
 * blocking streams, and of the legacy stream, wait for it. The legacy stream owes its wait until
 * the capture has ended. If that has happened meanwhile, its end did not know of this detour, so
 * the wait is made here. */
static void order_after(struct sc_context *context)
{
    SC_RELAXED();
    sc_mutex_lock(&context->detours.lock);
    struct edges edges = edges_of(context, context->detours.after);
    struct sc_order_call call;
    struct sc_point after;
    sc_track_begin_record(&sc_track, context->detours.stream->id, &call, &after);
    if (sc_real.cuEventRecord(edges.event, edges.private) == CUDA_SUCCESS) {
        sc_track_set_event(&sc_track, (uintptr_t)edges.event, &after);
        sc_streams_each(context, order_stream_after, &edges);
        context->legacy_stream->owes_wait = true;
        make_wait_of_legacy(context);
    } else {
        sc_track_release_point(&sc_track, &after);
    }
    sc_mutex_unlock(&context->detours.lock);
}

/* Called when the stream is about to be used, and owes a wait for an operation on the private
 * stream (a detour), which it could not make then: makes it now, and notes the order. */
void sc_detours_pay(struct sc_stream_record *stream)
{
    SC_TRACE("detour-pay stream", stream->id);
    SC_KEEP_ERRNO();
    SC_RELAXED();
    struct edges edges = edges_of(stream->context, stream->context->detours.after);
    make_owed_wait(&edges, stream);
    note_joined_work(stream->context->detours.stream, stream);
    SC_TRACKED(sc_events_note_wait(track.events, track.order, stream->id,
                                   (uintptr_t)edges.event)); /* in case it is met only now */
}

/* Makes the waits for operations on the private stream (detours) that streams of the context could
 * not make yet. Not while a call may be ending the context (quiet), when the library makes no calls
 * there. */
static void make_waits_in_context(struct sc_context *context)
{
    if (sc_contexts_is_quiet(context) || !sc_contexts_push(context))
        return;
    struct sc_relaxed relaxed = sc_relaxed_begin();
    sc_mutex_lock(&context->detours.lock);
    struct edges edges = edges_of(context, context->detours.after);
    sc_streams_each(context, make_owed_wait, &edges);
    make_wait_of_legacy(context);
    sc_mutex_unlock(&context->detours.lock);
    sc_relaxed_end(&relaxed);
    sc_contexts_pop();
}

/* Called when a capture has ended, which may have spanned several contexts: makes the waits for
 * operations on private streams (detours) that streams could not make before. Within the gate, so
 * that no other capture begins meanwhile, which waits on the legacy stream would break. */
void sc_detours_make_owed_waits(void)
{
    struct sc_context *context = atomic_load_explicit(&detoured, memory_order_acquire);
    bool in_gate = context && sc_legacy_gate_is_used();
    if (in_gate)
        sc_legacy_gate_enter();
    for (; context; context = context->detours.next)
        make_waits_in_context(context);
    if (in_gate)
        sc_legacy_gate_leave();
}

/* ---- around an operation ---- */

/* Notes in `detour` that a capture forbids the call on the legacy stream of this context, and which
 * one, for the report. */
static void set_capture(struct sc_detour *detour, struct sc_context *context)
{
    detour->context = context;
    detour->stream = NULL;
    detour->answered = false;
    detour->capture = sc_captures_find_blocking(context).begin;
}

/* Called before an operation on the legacy stream: enters the gate, which keeps captures from
 * beginning until the operation is over, and returns whether an open capture forbids the operation.
 * sc_detour_finish leaves the gate, also if this returns false. */
static bool enter_gate_and_ask(struct sc_detour *detour)
{
    struct sc_context *context = sc_active() ? sc_contexts_current() : NULL;
    if (!context)
        return false;
    detour->in_gate = sc_legacy_gate_is_used();
    if (detour->in_gate)
        sc_legacy_gate_enter();
    if (!sc_captures_any_open() || !legacy_is_blocked())
        return false;
    set_capture(detour, context);
    return true;
}

/* Called before an operation on the legacy stream, once a capture may stand in its way. If one
 * does, with capture=repair: `*stream` becomes a private stream that comes after all that the
 * legacy stream would, and the thread's capture mode is relaxed for the call. Else the driver may
 * refuse it. */
void sc_detour_prepare(struct sc_detour *detour, CUstream *stream)
{
    SC_KEEP_ERRNO();
    if (enter_gate_and_ask(detour) && sc_captures_are_repaired() && order_before(detour->context)) {
        *stream = detour->stream = detour->context->detours.stream->handle;
        detour->before = sc_captures_exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    }
}

/* Begins a wait of a stream for an event. A wait of the legacy stream for an event of an open
 * capture is forbidden, and has nothing to wait for until a launch: with capture=repair it is left
 * out (true is returned). The legacy stream of a green context may belong to the capture itself:
 * then the wait is captured. Other waits begin like any operation. */
bool sc_detour_begin_wait(struct sc_detour *detour, const struct sc_call *call, CUstream *stream,
                          CUevent event)
{
    if (!sc_captures_any_open() || !sc_detour_is_legacy(*stream, call->per_thread) ||
        !sc_captures_is_captured_event(event) ||
        sc_streams_find_captured(*stream, call->per_thread)) {
        sc_detour_begin(detour, call, stream);
        return false;
    }
    int saved = errno;
    struct sc_context *context = sc_active() ? sc_contexts_current() : NULL;
    sc_detour_init(detour, call);
    if (context) {
        set_capture(detour, context);
        detour->answered = sc_captures_are_repaired();
    }
    errno = saved;
    return context && detour->answered;
}

/* ---- queries: each stream is asked, so that a program that polls adds no events ---- */

/* A query of the legacy stream while a capture forbids it: the answer so far, and whether some work
 * has no event of the library's behind it that could be asked about. */
struct query {
    struct sc_context *context;
    CUresult answer;
    bool incomplete;
};

/* Asks whether the event has occurred, unless something was found unfinished already. NULL: there
 * is no event, and nothing to ask. */
static void ask_event(struct query *query, CUevent event)
{
    if (event && query->answer == CUDA_SUCCESS)
        query->answer = sc_real.cuEventQuery(event);
}

/* Asks whether the work of another thread's default stream is done, by the latest events that the
 * other thread has recorded there for the library. Work behind these may make the answer
 * `incomplete`. */
static void ask_foreign(struct query *query, struct sc_stream_record *stream)
    SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    uint64_t tail = sc_marks_tail_ticks(stream);
    ask_event(query, sc_marks_fence_of_locked(stream));
    ask_event(query, sc_marks_newest_locked(stream));
    query->incomplete |= !sc_unfinished_is_done(stream, tail);
}

/* Called for each stream of the context, for a query of the legacy stream that a capture forbids:
 * asks whether the stream's work is done, by a query, or, if the stream captures or is another
 * thread's, by events of the library's. Streams that the legacy stream would not wait for are
 * passed over. */
static void ask_stream(void *argument, struct sc_stream_record *stream) SC_UNFOLLOWED
{
    struct query *query = argument;
    bool foreign = lock_if(may_be_foreign, stream, query->context);
    if (!foreign && !lock_if(is_own_blocking, stream, query->context))
        return;
    if (foreign)
        ask_foreign(query, stream);
    else if (sc_streams_is_capturing(stream))
        ask_event(query, sc_marks_fence_of_locked(stream));
    else if (query->answer == CUDA_SUCCESS)
        query->answer = sc_real.cuStreamQuery(stream->handle);
    sc_mutex_unlock(&stream->lock);
}

/* Asks whether the legacy stream's own work is done, by an event on the library's marker stream,
 * which comes after that work. No work is added there while a capture forbids it, so one event
 * answers all queries of a program that polls: it is recorded again only after new work. */
static void ask_legacy(struct query *query, struct sc_context *context)
{
    struct sc_context_detours *own = &context->detours;
    uint64_t last = sc_marks_marker_ticks(context);
    CUstream marker = sc_marks_marker(context);
    own->query_event = own->query_event ? own->query_event : make_event();
    if (last != own->query_ticks && marker && own->query_event &&
        sc_real.cuEventRecord(own->query_event, marker) == CUDA_SUCCESS)
        own->query_ticks = last;
    if (last != own->query_ticks)
        query->incomplete = true;
    ask_event(query, own->query_event);
}

/* Answers a query of the legacy stream from all streams that it would wait for, with the driver's
 * results. Returns false if that is impossible: no event of the library's comes after some work. */
static bool ask_all_streams(struct sc_context *context, CUresult *answer)
{
    struct sc_relaxed relaxed = sc_relaxed_begin();
    struct query query = {.context = context, .answer = CUDA_SUCCESS};
    sc_mutex_lock(&context->detours.lock);
    ask_legacy(&query, context);
    if (context->detours.stream && query.answer == CUDA_SUCCESS)
        query.answer = sc_real.cuStreamQuery(context->detours.stream->handle);
    sc_streams_each(context, ask_stream, &query);
    sc_mutex_unlock(&context->detours.lock);
    sc_relaxed_end(&relaxed);
    *answer = query.answer;
    return !query.incomplete;
}

/* Begins a query of a stream. If a capture forbids it, since it is about the legacy stream, the
 * library answers (true is returned), with capture=repair: from all streams that the legacy stream
 * would wait for. False: the driver has to be asked. `answer` NULL: the caller knows the answer. */
bool sc_detour_begin_query(struct sc_detour *detour, const struct sc_call *call, CUstream stream,
                           CUresult *answer)
{
    sc_detour_init(detour, call);
    if (!sc_detour_may_be_needed(stream, call->per_thread))
        return false;
    int saved = errno;
    bool met = enter_gate_and_ask(detour);
    if (met && sc_captures_are_repaired())
        detour->answered = !answer || ask_all_streams(detour->context, answer);
    errno = saved;
    return met && detour->answered;
}

/* ---- the end ---- */

/* Reports that the driver has refused an operation on the legacy stream because of a capture,
 * although none was found before it: the capture has begun meanwhile, in spite of the gate. Not in
 * a replay before the driver's call, which has no answer of it yet. */
static void report_unforeseen(const struct sc_detour *detour, CUresult result)
{
    struct sc_context *context = sc_active() ? sc_contexts_current() : NULL;
    if (!context || detour->caller_reports || result != CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ||
        sc_replaying_prepares())
        return;
    struct sc_capture capture = sc_captures_find_blocking(context);
    sc_captures_report(SC301, SC_ACTION_REPORTED, &capture.begin, detour->call);
}

/* Called when the driver has answered an operation that a capture stood in the way of: orders later
 * work after it if it was made on the private stream (a detour), and reports the operation (SC301),
 * as repaired or not. In a replay before the driver's call it is reported by the second run, behind
 * the call. */
static void finish_detour(struct sc_detour *detour, CUresult result)
{
    if (detour->stream) {
        sc_captures_exchange_mode(detour->before);
        order_after(detour->context);
    }
    bool refused = sc_driver_is_capture_error(result);
    if (!sc_replaying_prepares())
        sc_captures_report(SC301,
                           (detour->stream || detour->answered) && !refused ? SC_ACTION_REROUTED
                                                                            : SC_ACTION_REPORTED,
                           &detour->capture, detour->call);
}

/* Called when the driver has answered an operation on the legacy stream that entered the gate, or
 * that it has refused because of a capture: ends the detour, or reports a refusal for which no
 * capture was found before; and leaves the gate. */
void sc_detour_finish(struct sc_detour *detour, CUresult result)
{
    SC_KEEP_ERRNO();
    if (detour->context)
        finish_detour(detour, result);
    else
        report_unforeseen(detour, result);
    if (detour->in_gate)
        sc_legacy_gate_leave();
}

/* Called if the driver has refused a call that went a quick way, which looks at no captures:
 * reports it if a capture was the reason, and notes an error that makes the context unusable. */
void sc_detour_report_refused(const char *api, void *site, bool per_thread, CUresult result)
{
    SC_CARRY();
    SC_KEEP_ERRNO();
    const struct sc_call call = {api, site, per_thread};
    struct sc_detour detour;
    sc_detour_init(&detour, &call);
    sc_detour_end(&detour, sc_wrap_check_answer(&call, result));
}
