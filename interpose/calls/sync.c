/* Wrappers of calls that wait for a stream, a context or an event, or ask whether it is done; and
 * what the program knows to be done when such a call, or a synchronous copy, has returned. */
#include "interpose/calls/sync.h"

#include "common/kernel.h"
#include "common/points.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/capture/detours.h"
#include "interpose/capture/permits.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"
#include "interpose/driver/wrap.h"
#include "interpose/guard/door.h"
#include "interpose/losses/returned_frames.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/hazards.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/doubts.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/simple_streams.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "track/order_calls.h"
#include "track/spans_calls.h"
#include "track/stream_front.h"
#include "track/track.h"
#include "track/track_order.h"
#include "track/track_streams.h"

#include "common/poison.h"

/* Initialises the record of a call that waits, except members that are set before they are read.
 * Before that it decides what cannot be decided once the wait is over: uses of local variables
 * whose function has returned (reported while the stack shows so), and hazards whose operation may
 * still be running, which would look complete afterwards. */
SC_INLINED void init_sync(struct sc_sync *sync, const struct sc_call *call)
{
    sc_returned_frames_check();
    sc_reaper_decide_now();
    sync->on = false;
    sync->all_known = false;
    sync->call = call;
    sync->stream = NULL;
    sync->context = NULL;
    sync->behind = (struct sc_behind){0};
    sync->ordered.stream = 0;
    sync->point.stream = 0;
    sync->point.joined = NULL;
}

/* Stores what a wait for the stream will have waited for: all that is issued there by now.
 * Operations are left out if the host already knows all of them to be done. If it knows that of
 * other work, too, the wait notes nothing. */
SC_INLINED void wait_for_stream(struct sc_sync *sync)
{
    sync->all_known = sc_track_is_all_known(&sc_track, sync->stream->id);
    sync->on = !sync->all_known || !sc_unfinished_is_clear(sync->stream);
    if (!sync->on)
        return;
    sync->since_ticks = sc_unfinished_stream_since(sync->stream);
    if (sync->all_known)
        return;
    sync->point = sc_track_sync_point(&sc_track, sync->stream->id, sc_streams_scope(sync->stream));
    sc_doubts_wait_begins(&sync->point);
}

/* Called before a wait for a stream: stores all work that the host will have waited for (the
 * point). While the library is inactive, or if the stream is unknown, the wait notes nothing. */
void sc_sync_begin_stream(struct sc_sync *sync, const struct sc_call *call, CUstream handle)
{
    init_sync(sync, call);
    sync->stream = sc_active() ? sc_streams_find(handle, call->per_thread) : NULL;
    if (sync->stream)
        wait_for_stream(sync);
}

/* May the driver read the source of a synchronous copy before earlier work of other streams has
 * written it? On the legacy stream the driver waits for the blocking streams first, so only an
 * event that the whole context was told to wait for (cuCtxWaitEvent) can be overtaken. */
static bool may_take_early(struct sc_stream_record *stream)
{
    return stream->kind == SC_STREAM_LEGACY ? sc_track_is_tied(&sc_track, stream->id, SC_TIE_DUE)
                                            : sc_unfinished_is_hidden(stream, /*known=*/true);
}

/* Makes the stream wait, in its own queue, for the work of other streams before it: work in its
 * queue makes the driver wait, too, before it reads the source. Too late, and so left out, in a
 * replay after the driver has carried the copy out (driver/replaying.h). */
static void avoid_early_take(struct sc_stream_record *stream)
{
    if (!sc_replaying_is_on() || sc_replaying_prepares())
        sc_marks_wait_for_itself(stream);
}

/* Called before a copy that waits for its stream (such as cuMemcpy): stores all work that the host
 * will have waited for (the point). Before that the driver is kept from reading the source of a
 * copy to the device too early. A replay before the driver's own call (sc_replaying_prepares) does
 * no more than that: another replay, behind the call, notes the wait. */
void sc_sync_begin_copy(struct sc_sync *sync, const struct sc_call *call,
                        struct sc_stream_record *stream, bool to_device)
{
    init_sync(sync, call);
    if (sc_unlikely(may_take_early(stream)) && to_device)
        avoid_early_take(stream);
    if (sc_unlikely(sc_replaying_prepares()))
        return;
    sync->stream = stream;
    sc_unfinished_legacy(stream);
    sync->on = true;
    sync->since_ticks = sc_unfinished_stream_since(stream);
    sync->point = SC_TRACKED(sc_order_begin_to_wait(track.order, stream->id, &sync->ordered));
    sc_doubts_wait_begins(&sync->point);
}

/* Stores what a wait for the context will have waited for: all work issued in it by now. Operations
 * are left out if the host already knows all of them to be done. `context` NULL: the call waits for
 * nothing that is known, and sc_sync_end will note nothing. */
static void begin_context_wait(struct sc_sync *sync, const struct sc_call *call,
                               struct sc_context *context)
{
    init_sync(sync, call);
    sync->context = context;
    if (!context)
        return;
    sync->on = true;
    sync->since_ticks = sc_unfinished_context_since(context);
    sync->all_known = sc_track_is_context_known(&sc_track, context->legacy);
    if (sync->all_known)
        return;
    sync->point = sc_track_sync_point(&sc_track, context->legacy, SC_SCOPE_CONTEXT);
    sc_doubts_wait_begins(&sync->point);
}

/* Called before cuCtxSynchronize and calls that wait like it. `handle` NULL: the current context.
 */
static void begin_named_context(struct sc_sync *sync, const struct sc_call *call, CUcontext handle)
{
    begin_context_wait(sync, call, sc_active() ? sc_contexts_named(handle) : NULL);
}

/* Called before a free of page-locked memory, which counts as a wait for the context: the driver
 * frees such memory only when the whole context is idle. */
void sc_sync_begin_free(struct sc_sync *sync, const struct sc_call *call)
{
    begin_context_wait(sync, call, sc_active() ? sc_contexts_of_memory() : NULL);
}

/* Called before a free that waits for nothing, so that sc_sync_end can end all frees alike. */
void sc_sync_begin_nothing(struct sc_sync *sync, const struct sc_call *call)
{
    begin_context_wait(sync, call, NULL);
}

/* Called before a wait for an event: stores the work that the event stands for (the point), and the
 * stream on which it was recorded. An empty point: the host knows all of that to be done. */
static void begin_event_wait(struct sc_sync *sync, const struct sc_call *call, CUevent event)
{
    init_sync(sync, call);
    if (!sc_active())
        return;
    sync->on = true;
    sc_track_event_work(&sc_track, (uintptr_t)event, &sync->point, &sync->behind);
    sync->all_known = !sync->point.stream && !sync->point.joined;
    sc_doubts_wait_begins(&sync->point);
}

/* Ends the operations that the wait has covered, as the host now knows them to be done, and reports
 * sources that the program has changed too early. */
static void make_point_known(struct sc_sync *sync)
{
    sc_hazards_note_done_and_report(&sync->point, SC_CULPRIT_OF(sync->call));
}

/* Notes that kernels and host functions before the event (unfinished work) are done, now that the
 * host has waited for the event. Nothing is noted if the event's stream is destroyed. */
static void end_work_before_event(const struct sc_behind *behind)
{
    struct sc_stream_record *stream = sc_streams_of_id(behind->stream);
    if (stream)
        sc_unfinished_stream_done(stream, behind->work_ticks);
}

/* Returns the streams, as bits, whose operations end by the wait, for sc_guard_apply, which
 * unprotects their pages. That is one stream if the point (what was waited for) has work of one
 * stream alone; else all: a context has many streams, and without a point (`all_known`) none is
 * named. */
static uint64_t stream_bits_of(const struct sc_sync *sync)
{
    bool is_one = !sync->context && !sync->all_known && sc_order_is_of_one_stream(&sync->point);
    return is_one ? sc_spans_stream_bit(sync->point.stream) : ~UINT64_C(0);
}

/* Called when a wait has succeeded: notes that all work it has covered is done. The sources of its
 * copies are compared for the last time, and its pages are unprotected. Work without a number
 * (kernels, host functions) is ended by times, operations by the point. */
static void note_waited_for(struct sc_sync *sync)
{
    uint64_t streams = stream_bits_of(sync); /* before the point becomes known, which ends it */
    if (sync->behind.work_ticks)
        end_work_before_event(&sync->behind);
    if (sync->stream)
        sc_unfinished_stream_done(sync->stream, sync->since_ticks);
    if (sync->context)
        sc_unfinished_context_done(sync->context, sync->since_ticks);
    if (!sync->all_known)
        make_point_known(sync);
    sc_guard_apply(streams);
}

/* Called when the driver has answered. If the wait failed, or a query found work left, nothing is
 * known to be done, and the point is dropped. `ordered.stream`: the call is also work on the stream
 * (a synchronous copy), and that call ends whether or not the driver has accepted it. */
CUresult sc_sync_end(struct sc_sync *sync, CUresult result)
{
    SC_KEEP_ERRNO();
    sc_doubts_wait_ends();
    if (sync->ordered.stream)
        sc_track_end_call(&sc_track, &sync->ordered, result == CUDA_SUCCESS);
    if (sync->on && result == CUDA_SUCCESS)
        note_waited_for(sync);
    else if (sync->on)
        sc_track_release_point(&sc_track, &sync->point);
    return result;
}

/* Returns whether a wait for the stream notes nothing, in a process in which nothing has captured:
 * the host knows all of the stream's work to be done. Decides before that what init_sync does. */
SC_INLINED bool is_known_idle(enum sc_simplicity least, CUstream handle)
{
    const bool can_be = sc_streams_has_handle(handle) && sc_returned_frames.high == 0;
    struct sc_stream_record *stream = can_be ? sc_streams_find_simple(least, handle, 0) : NULL;
    if (!stream)
        return false;
    sc_reaper_decide_now(); /* may take long, so the rest is asked behind it */
    return sc_process_simplicity() >= least && sc_track_is_all_known(&sc_track, stream->id) &&
           sc_unfinished_is_clear(stream);
}

/* Makes the quick way of the wrapper of a wait or query: makes the call and returns true, if it
 * notes nothing. False: nothing was done, and the wrapper goes the general way. */
#define WAITS_SIMPLY(symbol)                                                                       \
    SC_INLINED bool symbol##_simply(enum sc_simplicity least, const char *api, void *site,         \
                                    bool per_thread, CUresult *result, CUstream handle)            \
    {                                                                                              \
        if (!SC_HAVE(symbol) || !is_known_idle(least, handle))                                     \
            return false;                                                                          \
        *result = sc_real.symbol(handle);                                                          \
        sc_doubts_wait_ends();                                                                     \
        if (sc_unlikely(*result != CUDA_SUCCESS && *result != CUDA_ERROR_NOT_READY))               \
            sc_detour_report_refused(api, site, per_thread, *result);                              \
        return true;                                                                               \
    }

/* While a blocking stream captures, a wait for the legacy stream would break the capture, so it is
 * made for a private stream behind the same work (a detour). For another stream the call is made
 * under the relaxed capture mode (SC_PERMITTED), since the driver allows it in no other while
 * something captures. */
WAITS_SIMPLY(cuStreamSynchronize)
SC_SIMPLE_PAIR(cuStreamSynchronize, _ptsz, (CUstream stream), (stream))
{
    struct sc_detour detour;
    sc_detour_begin(&detour, call, &stream);
    struct sc_sync sync;
    sc_sync_begin_stream(&sync, call, stream);
    CUresult result =
        sc_detour_leave_report_to_caller(&detour) ? SC_PERMITTED(real(stream)) : real(stream);
    return sc_detour_end(&detour, sc_sync_end(&sync, result));
}

/* Waits for the stream on behalf of another wrapper, whose call the reports name. The handle means
 * what it names: NULL is the legacy stream, whichever variant the program has called. */
CUresult sc_sync_stream(const struct sc_call *call, CUstream stream)
{
    const struct sc_call as_named = {call->api, call->site, false};
    return cuStreamSynchronize_body(&as_named, sc_real.cuStreamSynchronize, stream);
}

/* A query that answers "done" tells the program as much as a wait. While a blocking stream
 * captures, a query of the legacy stream would break the capture: the library then asks each stream
 * for itself. For another stream the call is made under the relaxed capture mode (SC_PERMITTED). */
WAITS_SIMPLY(cuStreamQuery)
SC_SIMPLE_PAIR(cuStreamQuery, _ptsz, (CUstream stream), (stream))
{
    struct sc_detour detour;
    CUresult result;
    struct sc_sync sync;
    sc_sync_begin_stream(&sync, call, stream);
    if (!sc_detour_begin_query(&detour, call, stream, &result))
        result =
            sc_detour_leave_report_to_caller(&detour) ? SC_PERMITTED(real(stream)) : real(stream);
    return sc_detour_end(&detour, sc_sync_end(&sync, result));
}

/* Waits for the current context, and notes that its work is done. Pinned memory that the program
 * has freed and the library still holds for such work is freed at once. */
CUresult cuCtxSynchronize(void)
{
    struct sc_sync sync;
    SC_WRAPPER(cuCtxSynchronize);
    begin_named_context(&sync, call, NULL);
    CUresult result = sc_sync_end(&sync, SC_PERMITTED(real()));
    sc_reaper_give_back_pinned(sync.context);
    return result;
}

/* Waits for a named context, which need not be the current one. */
CUresult cuCtxSynchronize_v2(CUcontext context)
{
    SC_WRAPPER(cuCtxSynchronize_v2);
    struct sc_sync sync;
    begin_named_context(&sync, call, context);
    return sc_sync_end(&sync, SC_PERMITTED(real(context)));
}

/* When the call has succeeded, the host knows all work before the event to be done. */
CUresult cuEventSynchronize(CUevent event)
{
    SC_WRAPPER(cuEventSynchronize);
    struct sc_sync sync;
    begin_event_wait(&sync, call, event);
    return sc_sync_end(&sync, SC_PERMITTED(real(event)));
}

/* An answer "done" tells the program as much as a wait for the event. */
CUresult cuEventQuery(CUevent event)
{
    SC_WRAPPER(cuEventQuery);
    struct sc_sync sync;
    begin_event_wait(&sync, call, event);
    return sc_sync_end(&sync, SC_PERMITTED(real(event)));
}

/* The call succeeds only if both events are complete, so its success tells the program as much as a
 * wait for each of them. */
SC_VERSIONS(cuEventElapsedTime, cuEventElapsedTime_v2,
            (float *milliseconds, CUevent start, CUevent end), (milliseconds, start, end))
{
    struct sc_sync first, second;
    begin_event_wait(&first, call, start);
    begin_event_wait(&second, call, end);
    CUresult result = real(milliseconds, start, end);
    sc_sync_end(&first, result);
    return sc_sync_end(&second, result);
}
