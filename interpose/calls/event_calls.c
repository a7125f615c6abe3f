/* Wrappers of calls that record and destroy events, and of those that make streams and contexts
 * wait for one. (Waits of the host: sync.c.) */
#include "interpose/calls/event_calls.h"

#include "common/checks.h"
#include "common/mutex.h"
#include "common/points.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/capture/captures.h"
#include "interpose/capture/detours.h"
#include "interpose/capture/permits.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"
#include "interpose/driver/wrap.h"
#include "interpose/streams/capturing.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/simple_streams.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "track/events.h"
#include "track/order_calls.h"
#include "track/stream_front.h"
#include "track/track.h"
#include "track/track_order.h"
#include "track/track_parts.h"
#include "track/track_presence.h"
#include "track/track_streams.h"

#include "common/poison.h"

/* Called when the record of an event on a capturing stream has returned: forgets what the event
 * stood for, since it belongs to the capture now. A record with CU_EVENT_RECORD_EXTERNAL is only a
 * node: until the graph is launched, the event stands for what it stood for before. Returns
 * `result`. */
static __attribute__((noinline)) CUresult
note_captured(CUresult result, CUevent event, struct sc_stream_record *stream, unsigned flags)
{
    SC_KEEP_ERRNO();
    if (result == CUDA_SUCCESS && !(flags & CU_EVENT_RECORD_EXTERNAL)) {
        SC_TRACKED(sc_events_forget(track.events, track.order, (uintptr_t)event));
        sc_captures_note_event(event, stream);
    }
    return result;
}

/* Forgets what the event stood for: it is about to be destroyed, or was recorded on a stream that
 * is not known. A later wait for it orders nothing. */
static void forget_event(CUevent event)
{
    SC_KEEP_ERRNO();
    if (!sc_active())
        return;
    SC_TRACKED(sc_events_forget(track.events, track.order, (uintptr_t)event));
    sc_captures_note_event(event, NULL);
}

/* Called when the driver has answered a record: the event stands for `point` (the work before it)
 * from now on. After a refusal the event keeps what it stood for. `known` false: the stream is
 * unknown and there is no point, so the event is forgotten. Returns `result`. */
SC_INLINED CUresult set_event(CUresult result, CUevent event, bool known, struct sc_point *point)
{
    if (result != CUDA_SUCCESS) {
        if (known)
            sc_track_release_point(&sc_track, point);
    } else if (known) {
        sc_track_set_event(&sc_track, (uintptr_t)event, point);
        if (sc_captures_knows_events() && sc_active())
            sc_captures_note_event(event, NULL);
    } else {
        forget_event(event);
    }
    return result;
}

/* Records a mark (an event of the library's, by which completion is learnt) before the program's
 * event. Another stream may wait for the event and then tell the host by a way that the library
 * does not see (a signal). Only a mark before the event can then show that an earlier operation was
 * incomplete. A number of the stream is skipped, so that later marks are told from that one. */
static __attribute__((noinline)) void mark_before_event(struct sc_stream_record *stream)
{
    sc_marks_cover(stream);
    SC_TRACKED(sc_order_skip_number(track.order, stream->id));
}

/* Called before the driver records an event: begins the record as a call on its stream, and stores
 * in `point` the work that the event will stand for. In a replay, where the driver has recorded the
 * event already, a mark could no longer come before it. */
SC_INLINED void begin_record(struct sc_stream_record *stream, struct sc_order_call *ordered,
                             struct sc_point *point)
{
    if (sc_unlikely(sc_track_attends(SC_ATTENDS_SIGNALS)) && !sc_replaying_is_on())
        mark_before_event(stream);
    sc_unfinished_record(stream);
    sc_track_begin_record(&sc_track, stream->id, ordered, point);
}

/* One record of an event on a stream, from before the driver's call. */
struct recording {
    struct sc_detour detour;
    struct sc_stream_record *stream; /* NULL: the stream is not known */
    bool is_captured; /* the record becomes part of a capture; then the next two are not set */
    struct sc_order_call ordered;
    struct sc_point point; /* the work that the event will stand for */
};

/* Called before the driver records an event: stores the work that the event will stand for. On the
 * legacy stream the record may need a detour (`*stream` is then a private stream). A replay notes
 * no time of kernels and host functions before the event: work that was issued since the driver's
 * record may be among them. */
static void begin_recording(struct recording *recording, const struct sc_call *call,
                            CUstream *stream)
{
    sc_detour_begin(&recording->detour, call, stream);
    struct sc_stream_record *on = sc_active() ? sc_streams_find(*stream, call->per_thread) : NULL;
    recording->stream = on;
    recording->ordered.stream = 0;
    recording->is_captured = on && sc_streams_is_capturing(on);
    if (!on || recording->is_captured)
        return;
    begin_record(on, &recording->ordered, &recording->point);
    if (!sc_replaying_is_on())
        recording->point.work_ticks = sc_unfinished_before_event(on);
}

/* Called when the driver has answered a record. If it was accepted, the event stands for the work
 * that begin_recording has stored, or belongs to the stream's capture. Returns `result`. */
static CUresult end_recording(struct recording *recording, CUresult result, CUevent event,
                              unsigned flags)
{
    if (recording->is_captured) {
        note_captured(result, event, recording->stream, flags);
    } else {
        if (recording->ordered.stream)
            sc_track_end_record(&sc_track, &recording->ordered, result == CUDA_SUCCESS);
        set_event(result, event, recording->stream, &recording->point);
    }
    return sc_detour_end(&recording->detour, result);
}

/* Sets the event of a quick record if sc_events_set_simple could not: the event has no entry in the
 * table yet, or stood for work of several streams, whose release needs the tracker's lock. */
static __attribute__((noinline)) void set_composed_event(CUevent event, uint32_t stream,
                                                         uint64_t number, uint64_t work_ticks)
{
    struct sc_point point = {.stream = stream, .number = number, .work_ticks = work_ticks};
    set_event(CUDA_SUCCESS, event, /*known=*/true, &point);
}

/* Returns the stream of a record if its work comes after no other stream's work. Then the event
 * stands for that stream's operations up to one number, which is noted without the tracker's lock.
 * Else NULL: the record goes the general way. */
SC_INLINED struct sc_stream_record *find_simply_recorded(enum sc_simplicity least, CUstream handle,
                                                         bool per_thread)
{
    return sc_streams_find_any_simple(least, handle, per_thread,
                                      SC_TIE_KIND | SC_TIE_DUE | SC_TIE_JOINED | SC_TIE_SIGNALS);
}

/* Called before the driver records an event on a stream that find_simply_recorded has returned.
 * Returns what the event will stand for: the stream's operations so far, and the time of its latest
 * kernel or host function. The legacy stream, which has no handle, asks its context for the time.
 */
SC_INLINED struct sc_event_number begin_simple_record(struct sc_stream_record *stream,
                                                      CUstream handle)
{
    uint64_t number = sc_stream_front_issued(stream->front);
    return (struct sc_event_number){stream->id, number,
                                    sc_streams_has_handle(handle)
                                        ? sc_unfinished_simple_record(stream)
                                        : sc_unfinished_lone_record(stream)};
}

/* Called when the driver has answered a record that begin_simple_record has begun (the quick way).
 * After a refusal the event keeps what it stood for; a refusal because of a capture is reported. */
SC_INLINED void end_simple_record(const struct sc_call *call, CUevent event,
                                  const struct sc_event_number *record, CUresult result)
{
    if (sc_unlikely(result != CUDA_SUCCESS))
        sc_detour_report_refused(call->api, call->site, call->per_thread, result);
    else if (sc_unlikely(!sc_events_set_simple(sc_track_parts.events, (uintptr_t)event,
                                               record->stream, record->number, record->work_ticks)))
        set_composed_event(event, record->stream, record->number, record->work_ticks);
}

/* The quick way of cuEventRecord's wrapper: makes the call, and returns true, if the stream comes
 * after no other one. False: nothing was done, and the wrapper goes the general way. */
SC_INLINED bool cuEventRecord_simply(enum sc_simplicity least, const char *api, void *site,
                                     bool per_thread, CUresult *result, CUevent event,
                                     CUstream handle)
{
    struct sc_stream_record *stream = find_simply_recorded(least, handle, per_thread);
    if (!stream)
        return false;
    const struct sc_event_number record = begin_simple_record(stream, handle);
    *result = sc_real.cuEventRecord(event, handle);
    end_simple_record(&(const struct sc_call){api, site, per_thread}, event, &record, *result);
    return true;
}

/* The quick way of cuEventRecordWithFlags's wrapper: makes the call and returns true, or returns
 * false, having done nothing. A record with flags goes the general way, as it may be a node of a
 * graph (CU_EVENT_RECORD_EXTERNAL). Old drivers lack the function. */
SC_INLINED bool cuEventRecordWithFlags_simply(enum sc_simplicity least, const char *api, void *site,
                                              bool per_thread, CUresult *result, CUevent event,
                                              CUstream handle, unsigned flags)
{
    struct sc_stream_record *stream = flags || !SC_HAVE(cuEventRecordWithFlags)
                                          ? NULL
                                          : find_simply_recorded(least, handle, per_thread);
    if (!stream)
        return false;
    const struct sc_event_number record = begin_simple_record(stream, handle);
    *result = sc_real.cuEventRecordWithFlags(event, handle, flags);
    end_simple_record(&(const struct sc_call){api, site, per_thread}, event, &record, *result);
    return true;
}

/* The general way of the record of an event, if the quick one (cuEventRecord_simply) has refused.
 */
SC_SIMPLE_PAIR(cuEventRecord, _ptsz, (CUevent event, CUstream stream), (event, stream))
{
    SC_SIMPLY_BUT_HEARD(cuEventRecord, (event, stream));
    struct recording recording;
    begin_recording(&recording, call, &stream);
    return end_recording(&recording, real(event, stream), event, 0);
}

/* The general way of the record of an event with flags, which may make it a node of a graph. */
SC_SIMPLE_PAIR(cuEventRecordWithFlags, _ptsz, (CUevent event, CUstream stream, unsigned flags),
               (event, stream, flags))
{
    SC_SIMPLY_BUT_HEARD(cuEventRecordWithFlags, (event, stream, flags));
    struct recording recording;
    begin_recording(&recording, call, &stream);
    return end_recording(&recording, real(event, stream, flags), event, flags);
}

/* Called behind a kernel launch that has recorded the event itself. The event stands for all
 * operations that are issued on the stream by now. Those that other threads have issued during the
 * launch count as before the event, since nobody can tell. */
void sc_event_calls_note_recorded(struct sc_stream_record *stream, CUevent event)
{
    struct sc_order_call ordered;
    if (sc_streams_is_capturing(stream)) {
        note_captured(CUDA_SUCCESS, event, stream, 0);
        return;
    }
    struct sc_point point;
    begin_record(stream, &ordered, &point);
    sc_track_end_record(&sc_track, &ordered, /*issued=*/true);
    set_event(CUDA_SUCCESS, event, /*known=*/true, &point);
}

/* Forgets the event before the driver's call: the driver may give the handle to another thread's
 * event before the call returns. */
SC_VERSIONS(cuEventDestroy, cuEventDestroy_v2, (CUevent event), (event))
{
    forget_event(event);
    return real(event);
}

/* One wait of a stream for an event, from before the driver's call. */
struct joining {
    bool stream_locked; /* the stream's lock is held, as the process has captured at some time */
    bool gate_shut;     /* the gate was shut, for sc_captures_open_gate */
    struct sc_wait wait;
};

/* Called before the driver makes the stream wait for the event. A wait for an event of a capture
 * joins the stream into that capture, so the same is done as when a capture begins: the stream is
 * locked, and the gate keeps out operations on the legacy stream, which would break the capture.
 * While the process has never captured, neither is needed. */
static struct joining begin_joining(struct sc_stream_record *stream, CUevent event) SC_UNFOLLOWED
{
    struct joining joining = {.stream_locked = sc_capturing_seen()};
    sc_track_begin_wait(&sc_track, stream->id, (uintptr_t)event, &joining.wait);
    if (!joining.stream_locked)
        return joining;
    SC_KEEP_ERRNO();
    joining.gate_shut = sc_captures_is_captured_event(event) && sc_captures_shut_gate(stream);
    sc_mutex_lock(&stream->lock);
    sc_captures_note_joining(stream);
    return joining;
}

/* Kernels and host functions before an event: where they run, and when the last one was issued.
 * `stream` NULL: the event was recorded by another process, or on a stream that is gone. */
struct before {
    struct sc_stream_record *stream;
    uint64_t work_ticks;
};

/* Finds the stream on which the event was recorded, and the time of the last work before the event.
 * A record of a destroyed stream is used again for another one (`since_number` tells): then the
 * stream is NULL. */
static struct before work_before(CUevent event)
{
    struct sc_point point = sc_track_event_point(&sc_track, (uintptr_t)event);
    struct before before = {point.stream ? sc_streams_of_id(point.stream) : NULL, point.work_ticks};
    sc_track_release_point(&sc_track, &point);
    if (before.stream &&
        (sc_stream_is_gone(before.stream) || point.number < before.stream->since_number))
        before.stream = NULL;
    return before;
}

/* Notes that the stream waits for the event, and returns whether kernels or host functions that may
 * still run (unfinished work) come before the event. None do if the host has waited for all work of
 * the event's stream. What the stream waits for may write host memory (sc_unfinished_written), and
 * marks recorded behind the wait may occur late (sc_marks_note_wait). */
bool sc_event_calls_note_join(struct sc_stream_record *stream, CUevent event)
{
    struct before before = work_before(event);
    bool may_bring_work = !before.stream || !sc_unfinished_is_clear(before.stream);
    sc_marks_note_wait(stream);
    sc_unfinished_written(stream);
    if (may_bring_work)
        sc_unfinished_join_of(stream, before.stream, before.work_ticks);
    else
        sc_unfinished_legacy(stream);
    return may_bring_work;
}

/* Called when the driver has answered a wait of the stream for the event. In a capture the wait
 * orders nodes and no work, so nothing is noted. Else what was noted before the call is noted again
 * (`may_bring_work`: the event had unfinished work then), since a wait of the host that began in
 * between would seem to cover it. Returns `result`. */
static CUresult end_joining(CUresult result, struct sc_stream_record *stream, CUevent event,
                            struct joining *joining, bool may_bring_work) SC_UNFOLLOWED
{
    if (sc_captures_any_open())
        sc_capturing_changed();
    bool captured = joining->stream_locked && sc_streams_is_capturing(stream);
    if (joining->stream_locked)
        sc_mutex_unlock(&stream->lock);
    sc_captures_open_gate(joining->gate_shut);
    sc_track_end_wait(&sc_track, &joining->wait, result == CUDA_SUCCESS && !captured);
    if (result == CUDA_SUCCESS && !captured) {
        if (may_bring_work) {
            sc_event_calls_note_join(stream, event);
        } else {
            sc_unfinished_written(stream);
            sc_unfinished_legacy(stream);
        }
        sc_marks_note_tail(stream);
    }
    return result;
}

/* A wait for an event that takes the quick way (begin_simple_wait). */
struct simple_wait {
    struct sc_stream_record *stream; /* NULL: the wait is not simple */
    uint64_t noted_ticks;            /* 0: it brings no work */
};

/* Begins a stream's wait for an event by the quick way. It is open if the host knows all operations
 * before the event to be done, so that the wait orders none; only kernels and host functions before
 * the event may still run, and are noted. It is closed (`stream` NULL) if the event's stream is
 * gone or unknown, or an operation has no mark behind it: a mark behind the wait may occur late. */
SC_INLINED struct simple_wait begin_simple_wait(enum sc_simplicity least, CUstream handle,
                                                bool per_thread, CUevent event)
{
    struct sc_event_number number;
    struct sc_stream_record *stream =
        sc_streams_find_any_simple(least, handle, per_thread, SC_TIE_KIND | SC_TIE_DUE);
    if (!stream || !sc_marks_cover_simple(stream) ||
        !sc_track_known_event(&sc_track, (uintptr_t)event, &number))
        return (struct simple_wait){0};
    struct sc_stream_record *before =
        number.stream == stream->id ? stream : sc_streams_of_id(number.stream);
    if (!before || sc_stream_is_gone(before) || number.number < before->since_number)
        return (struct simple_wait){0};
    bool may_bring_work = before != stream && !sc_unfinished_is_clear(before);
    if (stream->kind == SC_STREAM_BLOCKING)
        sc_marks_note_wait(stream); /* a signal of the legacy stream asks for marks there */
    return (struct simple_wait){
        stream, may_bring_work ? sc_unfinished_join_of(stream, before, number.work_ticks) : 0};
}

/* The quick way of cuStreamWaitEvent's wrapper: makes the call and returns true. False: nothing was
 * done, and the wrapper goes the general way. If a wait of the host has begun during the call, it
 * would seem to cover what was noted before the call, so that is noted again. */
SC_INLINED bool cuStreamWaitEvent_simply(enum sc_simplicity least, const char *api, void *site,
                                         bool per_thread, CUresult *result, CUstream handle,
                                         CUevent event, unsigned flags)
{
    const struct simple_wait wait =
        flags ? (struct simple_wait){0} : begin_simple_wait(least, handle, per_thread, event);
    if (!wait.stream)
        return false;
    *result = sc_real.cuStreamWaitEvent(handle, event, flags);
    if (sc_unlikely(*result != CUDA_SUCCESS))
        sc_detour_report_refused(api, site, per_thread, *result);
    else if (wait.noted_ticks && sc_unfinished_is_overtaken(wait.stream, wait.noted_ticks))
        sc_event_calls_note_join(wait.stream, event);
    return true;
}

/* The general way of a stream's wait for an event, if the quick one (cuStreamWaitEvent_simply) has
 * refused. A wait of the legacy stream for an event of an open capture is left out
 * (sc_detour_begin_wait then returns true), since it would break the capture and has nothing to
 * wait for. Earlier copies get their mark (an event by which completion is learnt) before the wait:
 * a later one may occur late. */
SC_SIMPLE_PAIR(cuStreamWaitEvent, _ptsz, (CUstream handle, CUevent event, unsigned flags),
               (handle, event, flags))
{
    SC_SIMPLY_BUT_HEARD(cuStreamWaitEvent, (handle, event, flags));
    struct sc_detour detour;
    if (sc_detour_begin_wait(&detour, call, &handle, event))
        return sc_detour_end(&detour, CUDA_SUCCESS);
    struct sc_stream_record *stream =
        sc_active() ? sc_streams_find(handle, call->per_thread) : NULL;
    if (!stream)
        return sc_detour_end(&detour, real(handle, event, flags));
    sc_marks_before_work(stream, SC_BEFORE_WORK);
    bool may_bring_work = sc_event_calls_note_join(stream, event);
    struct joining join = begin_joining(stream, event);
    CUresult result = real(handle, event, flags);
    return sc_detour_end(&detour, end_joining(result, stream, event, &join, may_bring_work));
}

/* ---- events of contexts: they stand for the work of all streams there, and of streams to come
 * ---- */

/* Called when the driver has answered the record of an event for a whole context: the event stands
 * for `point`, all work of the context by then, from now on. The driver refuses such a record while
 * any stream of the context captures; that is reported. Returns `result`. */
static CUresult end_context_record(const struct sc_call *call, CUevent event,
                                   struct sc_point *point, CUresult result)
{
    return set_event(sc_permit_report_refused(call, result), event, sc_active(), point);
}

/* Returns all work in the context that is issued by now (a point), for an event that is about to be
 * recorded there. Empty: the context has no record, so no work of it is known. */
static struct sc_point context_point(CUcontext handle)
{
    struct sc_context *context = sc_active() ? sc_contexts_named(handle) : NULL;
    return context ? SC_TRACKED(sc_order_context_record(track.order, context->legacy))
                   : (struct sc_point){0};
}

/* Wrapper: the event stands for the work of all streams of the context. */
CUresult cuCtxRecordEvent(CUcontext context, CUevent event)
{
    SC_WRAPPER(cuCtxRecordEvent);
    struct sc_point point = context_point(context);
    return end_context_record(call, event, &point, real(context, event));
}

/* Wrapper: the event stands for the work of all streams of the green context. */
CUresult cuGreenCtxRecordEvent(CUgreenCtx green, CUevent event)
{
    SC_WRAPPER(cuGreenCtxRecordEvent);
    struct sc_point point = context_point(sc_contexts_of_green(green));
    return end_context_record(call, event, &point, real(green, event));
}

/* One wait of a whole context for an event, from before the driver's call. */
struct context_wait {
    CUcontext handle;
    struct sc_context *context; /* NULL: not known */
    struct sc_point point;      /* what the context waits for */
};

/* Called before the driver makes a whole context wait for an event. Records marks behind the work
 * of its streams (by which completion is learnt): a later mark would come after the event, too.
 * Records fences as well: events that stand for the streams' work if one of them comes to capture.
 */
static struct context_wait begin_context_wait(CUcontext handle, CUevent event)
{
    SC_KEEP_ERRNO();
    struct context_wait wait = {.handle = handle};
    if (sc_active()) {
        wait.point = sc_track_event_point(&sc_track, (uintptr_t)event);
        wait.context = sc_contexts_named(handle);
    }
    if (wait.context) {
        sc_marks_add_family(wait.context);
        sc_detours_fence_context(wait.context);
        sc_unfinished_context_waits(wait.context);
    }
    return wait;
}

/* Notes that the context waits for `wait->point`: later work of all its streams, and of those of
 * its green contexts, also future ones, comes after it. Releases the point. */
static void order_context(struct context_wait *wait)
{
    SC_TRACK_SCOPE(track);
    sc_order_note_context_wait(track.order, wait->context->legacy, &wait->point);
    sc_order_release_point(track.order, &wait->point);
}

/* Called when the driver has answered a context's wait for an event. A context without a record
 * gets one now, since streams that it makes later come after the event as well. After a refusal,
 * which is reported if a capture is the reason, nothing is noted. Returns `result`. */
static CUresult end_context_wait(const struct sc_call *call, struct context_wait *wait,
                                 CUresult result)
{
    SC_KEEP_ERRNO();
    sc_permit_report_refused(call, result);
    if (!wait->context && result == CUDA_SUCCESS && sc_active() && wait->handle)
        wait->context = sc_contexts_of(wait->handle);
    if (wait->context && result == CUDA_SUCCESS) {
        order_context(wait);
        /* Again: a wait of another thread for a stream, in between, would seem to cover it. */
        sc_unfinished_context_waits(wait->context);
    } else {
        sc_track_release_point(&sc_track, &wait->point);
    }
    return result;
}

/* Wrapper: all streams of the context, also future ones, come after the event. */
CUresult cuCtxWaitEvent(CUcontext context, CUevent event)
{
    SC_WRAPPER(cuCtxWaitEvent);
    struct context_wait wait = begin_context_wait(context, event);
    return end_context_wait(call, &wait, real(context, event));
}

/* Wrapper: all streams of the green context, also future ones, come after the event. */
CUresult cuGreenCtxWaitEvent(CUgreenCtx green, CUevent event)
{
    SC_WRAPPER(cuGreenCtxWaitEvent);
    struct context_wait wait = begin_context_wait(sc_contexts_of_green(green), event);
    return end_context_wait(call, &wait, real(green, event));
}
