/* Events are recorded, and waited for by streams and contexts. */
#include "interpose/calls/event_calls.h"

#include <errno.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/capture/captures.h"
#include "interpose/capture/detours.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "track/order.h"
#include "track/track.h"

#include "track/poison.h"

/* What a record on a stream that captures leaves the event: a mark within the capture. An external
 * one is a node, and the event means what it meant until that is launched. */
static CUresult captured_record(CUresult result, CUevent event, struct sc_stream_record *stream,
                                unsigned flags)
{
    int saved = errno;
    if (result == CUDA_SUCCESS && !(flags & CU_EVENT_RECORD_EXTERNAL)) {
        sc_track_forget_event(&sc_track, (uintptr_t)event);
        sc_captures_note_event(event, stream);
    }
    errno = saved;
    return result;
}

static CUresult recorded(CUresult result, CUevent event, bool known, struct sc_point *point)
{
    int saved = errno;
    if (known && result == CUDA_SUCCESS)
        sc_track_set_event(&sc_track, (uintptr_t)event, point);
    else if (known)
        sc_track_forget_point(&sc_track, point);
    else if (sc_active() && result == CUDA_SUCCESS)
        sc_track_forget_event(&sc_track, (uintptr_t)event);
    if (sc_active() && result == CUDA_SUCCESS)
        sc_captures_note_event(event, NULL);
    errno = saved;
    return result;
}

static struct sc_point begin_record(struct sc_stream_record *stream, struct sc_call *call)
{
    call->stream = 0;
    if (!stream)
        return (struct sc_point){0};
    sc_unfinished_record(stream);
    return sc_track_begin_record(&sc_track, stream->id, call);
}

static CUresult end_record(CUresult result, CUevent event, bool known, struct sc_point *point,
                           struct sc_call *call)
{
    sc_track_end_record(&sc_track, call, result == CUDA_SUCCESS);
    return recorded(result, event, known, point);
}

#define RECORD(symbol, parameters, arguments, flags)                                               \
    SC_DEFINE2(                                                                                    \
        symbol, _ptsz, parameters, struct sc_detour detour;                                        \
        sc_detour_begin(&detour, API, SC_SITE(), &hStream, per_thread);                            \
        struct sc_stream_record *stream =                                                          \
            sc_active() ? sc_streams_find(hStream, per_thread) : NULL;                             \
        if (stream && sc_streams_is_capturing(stream)) return sc_detour_end(                       \
            &detour, captured_record(REAL arguments, event, stream, flags));                       \
        struct sc_call call; struct sc_point point = begin_record(stream, &call);                  \
        return sc_detour_end(&detour, end_record(REAL arguments, event, stream, &point, &call));)

RECORD(cuEventRecord, (CUevent event, CUstream hStream), (event, hStream), 0)
RECORD(cuEventRecordWithFlags, (CUevent event, CUstream hStream, unsigned flags),
       (event, hStream, flags), flags)

#define EVENT_DESTROY(symbol)                                                                      \
    SC_DEFINE(                                                                                     \
        symbol, (CUevent event), if (sc_active()) {                                                \
            sc_track_forget_event(&sc_track, (uintptr_t)event);                                    \
            sc_captures_note_event(event, NULL);                                                   \
        } return REAL(event);)

EVENT_DESTROY(cuEventDestroy)
EVENT_DESTROY(cuEventDestroy_v2)

struct joining {
    bool held; /* the stream's lock */
    bool shut; /* the gate */
    struct sc_wait wait;
};

/* Waiting for an event of a capture joins the stream into it, so it is held like a begin. */
static struct joining joining(struct sc_stream_record *stream, CUevent event)
{
    struct joining joining = {.held = sc_streams_captures_seen()};
    sc_track_begin_wait(&sc_track, stream->id, (uintptr_t)event, &joining.wait);
    if (!joining.held)
        return joining;
    int saved = errno;
    joining.shut = sc_captures_own_event(event) && sc_captures_shut_gate(stream);
    pthread_mutex_lock(&stream->lock);
    sc_captures_joining(stream);
    errno = saved;
    return joining;
}

/* NULL: another process's, or of a stream that is gone. */
static struct sc_stream_record *stream_of(CUevent event)
{
    struct sc_point point = sc_track_event_point(&sc_track, (uintptr_t)event);
    struct sc_stream_record *behind = point.stream ? sc_streams_of_id(point.stream) : NULL;
    sc_track_forget_point(&sc_track, &point);
    return behind && !behind->gone ? behind : NULL;
}

/* Where the host has waited for all work of the event's stream, or there never was any, the wait
 * brings none. */
static bool brings_no_work(struct sc_stream_record *stream, CUevent event)
{
    if (sc_unfinished_no_work_ever())
        return true;
    if (!sc_unfinished_is_clear(stream))
        return false;
    struct sc_stream_record *behind = stream_of(event);
    return behind && sc_unfinished_is_clear(behind);
}

static bool is_seen(CUevent event)
{
    if (sc_likely(sc_unfinished_none_ever()))
        return true;
    struct sc_stream_record *behind = stream_of(event);
    return behind && sc_unfinished_is_seen(behind);
}

bool sc_events_join(struct sc_stream_record *stream, CUevent event)
{
    bool brings = !brings_no_work(stream, event);
    if (brings)
        sc_unfinished_join(stream, is_seen(event));
    else
        sc_unfinished_legacy(stream);
    return brings;
}

static CUresult waited(CUresult result, struct sc_stream_record *stream, CUevent event,
                       struct joining *joining, bool brings)
{
    if (sc_captures_open())
        sc_streams_captures_changed();
    bool captured = joining->held && sc_streams_is_capturing(stream);
    if (joining->held)
        pthread_mutex_unlock(&stream->lock);
    sc_captures_open_gate(joining->shut);
    sc_track_end_wait(&sc_track, &joining->wait, result == CUDA_SUCCESS && !captured);
    if (result == CUDA_SUCCESS && !captured) {
        if (brings)
            sc_events_join(stream, event);
        else
            sc_unfinished_legacy(stream);
    }
    return result;
}

SC_DEFINE2(cuStreamWaitEvent, _ptsz, (CUstream hStream, CUevent event, unsigned flags),
           struct sc_detour detour;
           if (sc_detour_begin_wait(&detour, API, SC_SITE(), &hStream, per_thread,
                                    event)) return sc_detour_end(&detour, CUDA_SUCCESS);
           struct sc_stream_record *stream = sc_active() ? sc_streams_find(hStream, per_thread)
                                                         : NULL;
           if (!stream) return sc_detour_end(&detour, REAL(hStream, event, flags));
           sc_marks_before_work(stream); bool brings = sc_events_join(stream, event);
           struct joining join = joining(stream, event);
           CUresult result = REAL(hStream, event, flags);
           return sc_detour_end(&detour, waited(result, stream, event, &join, brings));)

/* ---- events of contexts: all that is at work there, or will be ---- */

static struct sc_point context_point(CUcontext handle)
{
    struct sc_context *context = sc_active() ? sc_contexts_named(handle) : NULL;
    return context ? sc_track_context_record_point(&sc_track, context->legacy)
                   : (struct sc_point){0};
}

static struct sc_point event_point(CUevent event)
{
    return sc_active() ? sc_track_event_point(&sc_track, (uintptr_t)event) : (struct sc_point){0};
}

static struct sc_context *context_waits(CUcontext handle)
{
    int saved = errno;
    struct sc_context *context = sc_active() ? sc_contexts_named(handle) : NULL;
    if (context) {
        sc_marks_add_family(context);
        sc_detours_fence_family(context);
        sc_streams_context_waits(context);
    }
    errno = saved;
    return context;
}

static CUresult context_waited(CUresult result, struct sc_context *context, CUcontext handle,
                               struct sc_point *point)
{
    int saved = errno;
    if (!context && result == CUDA_SUCCESS && sc_active() && handle)
        context = sc_contexts_of(handle); /* in which what comes later waits */
    if (context && result == CUDA_SUCCESS) {
        sc_track_wait_context(&sc_track, context->legacy, point);
        /* Another thread may have waited for a stream meanwhile. */
        sc_streams_context_waits(context);
    } else {
        sc_track_forget_point(&sc_track, point);
    }
    errno = saved;
    return result;
}

/* Both are refused where a stream of the context captures. */
#define CONTEXT_EVENTS(record, wait, type, context_handle)                                         \
    SC_DEFINE(record, (type handle, CUevent event),                                                \
              struct sc_point point = context_point(context_handle);                               \
              CUresult result = sc_permit_refused(API, SC_SITE(), REAL(handle, event));            \
              return recorded(result, event, sc_active(), &point);)                                \
    SC_DEFINE(wait, (type handle, CUevent event), struct sc_point point = event_point(event);      \
              struct sc_context *context = context_waits(context_handle);                          \
              CUresult result = sc_permit_refused(API, SC_SITE(), REAL(handle, event));            \
              return context_waited(result, context, context_handle, &point);)

CONTEXT_EVENTS(cuCtxRecordEvent, cuCtxWaitEvent, CUcontext, handle)
CONTEXT_EVENTS(cuGreenCtxRecordEvent, cuGreenCtxWaitEvent, CUgreenCtx, sc_context_of_green(handle))
