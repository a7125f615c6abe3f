/* Streams and events come and go, wait for each other and call the host back. */
#include "interpose/flow.h"

#include <errno.h>

#include "interpose/captures.h"
#include "interpose/detours.h"
#include "interpose/graphs.h"
#include "interpose/guard.h"
#include "interpose/hazards.h"
#include "interpose/host_functions.h"
#include "interpose/issue.h"
#include "interpose/marks.h"
#include "interpose/process.h"
#include "interpose/sync.h"
#include "interpose/wrap.h"

#include "track/poison.h"

/* ---- streams ---- */

static CUresult stream_created(CUresult result, CUstream *handle)
{
    if (result == CUDA_SUCCESS && sc_active() && handle)
        sc_streams_created(*handle);
    return result;
}

SC_DEFINE(cuStreamCreate, (CUstream * stream, unsigned flags),
          return stream_created(REAL(stream, flags), stream);)

SC_DEFINE(cuStreamCreateWithPriority, (CUstream * stream, unsigned flags, int priority),
          return stream_created(REAL(stream, flags, priority), stream);)

SC_DEFINE(cuGreenCtxStreamCreate,
          (CUstream * stream, CUgreenCtx context, unsigned flags, int priority),
          return stream_created(REAL(stream, context, flags, priority), stream);)

static CUresult stream_destroyed(CUresult result, struct sc_stream_record *stream, uintptr_t graph)
{
    if (stream && result == CUDA_SUCCESS) {
        sc_captures_ended(stream);
        sc_graphs_forget(graph);
        sc_streams_destroyed(stream);
    } else if (stream) {
        sc_streams_not_destroyed(stream);
    }
    return result;
}

#define STREAM_DESTROY(symbol)                                                                     \
    SC_DEFINE(symbol, (CUstream hStream),                                                          \
              struct sc_stream_record *stream =                                                    \
                  sc_active() ? sc_streams_destroying(hStream) : NULL;                             \
              uintptr_t graph = stream && sc_captures_open() ? sc_captures_own_graph(stream) : 0;  \
              return stream_destroyed(REAL(hStream), stream, graph);)

STREAM_DESTROY(cuStreamDestroy)
STREAM_DESTROY(cuStreamDestroy_v2)

/* ---- captures: the reaper must not record on a stream that begins one ---- */

struct beginning {
    struct sc_stream_record *stream;
    uint64_t capture;
    bool shut; /* the gate */
};

/* A blocking stream stands in the legacy stream's way while it captures. */
static bool shut_gate(const struct sc_stream_record *stream)
{
    bool shut = stream->kind == SC_STREAM_BLOCKING && sc_captures_are_repaired();
    if (shut)
        sc_gate_shut();
    return shut;
}

static void open_gate(bool shut)
{
    if (shut)
        sc_gate_open();
}

static struct beginning capture_beginning(CUstream handle, bool per_thread,
                                          CUstreamCaptureMode mode, bool to_graph, const char *api,
                                          void *site)
{
    int saved = errno;
    struct beginning beginning = {.stream =
                                      sc_active() ? sc_streams_find(handle, per_thread) : NULL};
    sc_streams_note_capture();
    if (beginning.stream) {
        beginning.shut = shut_gate(beginning.stream);
        beginning.capture = sc_captures_beginning(beginning.stream, mode, to_graph, api, site);
    }
    errno = saved;
    return beginning;
}

static CUresult capture_begun(const struct beginning *beginning, CUresult result)
{
    if (beginning->stream)
        sc_captures_began(beginning->stream, beginning->capture, result == CUDA_SUCCESS);
    open_gate(beginning->shut);
    return result;
}

#define BEGIN_CAPTURE(symbol, mode, to_graph, parameters, arguments)                               \
    SC_DEFINE2(symbol, _ptsz, parameters,                                                          \
               struct beginning beginning =                                                        \
                   capture_beginning(hStream, per_thread, mode, to_graph, API, SC_SITE());         \
               return capture_begun(&beginning, REAL arguments);)

BEGIN_CAPTURE(cuStreamBeginCapture, CU_STREAM_CAPTURE_MODE_GLOBAL, false, (CUstream hStream),
              (hStream))
BEGIN_CAPTURE(cuStreamBeginCapture_v2, mode, false, (CUstream hStream, CUstreamCaptureMode mode),
              (hStream, mode))
BEGIN_CAPTURE(cuStreamBeginCaptureToGraph, mode, true,
              (CUstream hStream, CUgraph graph, const CUgraphNode *dependencies,
               const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode),
              (hStream, graph, dependencies, edges, count, mode))

static CUresult capture_ended(CUresult result, struct sc_stream_record *stream, uintptr_t graph)
{
    sc_streams_captures_changed();
    if (!stream)
        return result;
    sc_captures_ended(stream);
    if (result != CUDA_SUCCESS && !sc_streams_is_capturing(stream))
        sc_graphs_forget(graph);
    return result;
}

SC_DEFINE2(cuStreamEndCapture, _ptsz, (CUstream hStream, CUgraph *graph),
           struct sc_stream_record *stream = sc_active() && sc_captures_open()
                                                 ? sc_streams_find(hStream, per_thread)
                                                 : NULL;
           uintptr_t into = stream ? sc_captures_own_graph(stream) : 0;
           return capture_ended(REAL(hStream, graph), stream, into);)

/* ---- events ---- */

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
    sc_pending_record(stream);
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
    joining.shut = sc_captures_own_event(event) && shut_gate(stream);
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
    if (sc_pending_no_work_ever())
        return true;
    if (!sc_pending_is_clear(stream))
        return false;
    struct sc_stream_record *behind = stream_of(event);
    return behind && sc_pending_is_clear(behind);
}

static bool is_seen(CUevent event)
{
    if (sc_likely(sc_pending_none_ever()))
        return true;
    struct sc_stream_record *behind = stream_of(event);
    return behind && sc_pending_is_seen(behind);
}

bool sc_flow_join(struct sc_stream_record *stream, CUevent event)
{
    bool brings = !brings_no_work(stream, event);
    if (brings)
        sc_pending_join(stream, is_seen(event));
    else
        sc_pending_legacy(stream);
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
    open_gate(joining->shut);
    sc_track_end_wait(&sc_track, &joining->wait, result == CUDA_SUCCESS && !captured);
    if (result == CUDA_SUCCESS && !captured) {
        if (brings)
            sc_flow_join(stream, event);
        else
            sc_pending_legacy(stream);
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
           sc_marks_before_work(stream); bool brings = sc_flow_join(stream, event);
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

/* ---- host functions: when one starts, everything before it on its stream is done ---- */

struct host_call {
    const char *api;
    void *site;
    uint64_t ticks; /* of the launch */
    unsigned open;  /* interpose/host_functions.h */
    CUhostFn function;
    CUstreamCallback callback;
    CUstream stream; /* that the program named, where the call runs in a private one */
    bool detoured;
    void *data;
    struct sc_point point;
    struct host_call *next;
};

static pthread_mutex_t calls_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_arena calls_arena;
static struct host_call *spare_calls;

static struct host_call *take_call(void)
{
    pthread_mutex_lock(&calls_lock);
    struct host_call *call = spare_calls;
    if (call)
        spare_calls = call->next;
    else
        call = sc_arena_take(&calls_arena, sizeof *call);
    pthread_mutex_unlock(&calls_lock);
    return call;
}

static void give_call(struct host_call *call)
{
    pthread_mutex_lock(&calls_lock);
    call->next = spare_calls;
    spare_calls = call;
    pthread_mutex_unlock(&calls_lock);
}

static __thread uint64_t host_function_ticks __attribute__((tls_model("initial-exec")));

uint64_t sc_flow_host_function_ticks(void)
{
    return host_function_ticks;
}

static struct host_call *prepare_call(const struct sc_culprit *launch, CUstream handle,
                                      bool per_thread, uintptr_t function, void *data,
                                      struct sc_work *work)
{
    *work = sc_work_begin(handle, per_thread, SC_WORK_MAY_WRITE);
    struct host_call *call = work->stream ? take_call() : NULL;
    if (!call)
        return NULL;
    *call = (struct host_call){
        .api = launch->api, .site = launch->site, .ticks = sc_ticks(), .data = data};
    call->point = sc_track_call_point(&sc_track, work->stream->id, &work->call);
    call->open = sc_host_functions_launched(call->ticks, work->stream->id, function);
    return call;
}

/* The call is the driver's, which may have made it by now; or ours again. */
static CUresult end_call(struct host_call *call, struct sc_work *work, CUresult result)
{
    if (call && result != CUDA_SUCCESS) {
        sc_host_functions_returned(call->open);
        sc_track_forget_point(&sc_track, &call->point);
        give_call(call);
    }
    return sc_work_end(work, result);
}

static void known(struct host_call *call)
{
    SC_OPS(overwritten);
    sc_track_known(&sc_track, &call->point, &overwritten);
    sc_hazards_report_overwritten(&overwritten, &(struct sc_culprit){call->api, call->site, NULL});
    sc_guard_apply();
}

static void run_function(void *argument)
{
    struct host_call *call = argument;
    CUhostFn function = call->function;
    void *data = call->data;
    unsigned open = call->open;
    known(call);
    host_function_ticks = call->ticks;
    give_call(call);
    sc_host_functions_runs(open);
    function(data);
    sc_host_functions_returned(open);
    host_function_ticks = 0;
}

/* A callback also runs when the stream has failed, and then it proves nothing. */
static void run_callback(CUstream stream, CUresult status, void *argument)
{
    struct host_call *call = argument;
    CUstreamCallback callback = call->callback;
    void *data = call->data;
    stream = call->detoured ? call->stream : stream;
    if (status == CUDA_SUCCESS)
        known(call);
    else
        sc_track_forget_point(&sc_track, &call->point);
    host_function_ticks = call->ticks;
    unsigned open = call->open;
    give_call(call);
    sc_host_functions_runs(open);
    callback(stream, status, data);
    sc_host_functions_returned(open);
    host_function_ticks = 0;
}

SC_DEFINE2(cuLaunchHostFunc, _ptsz, (CUstream hStream, CUhostFn function, void *data),
           struct sc_culprit launch = {API, SC_SITE(), NULL};
           struct sc_detour detour;
           sc_detour_begin(&detour, API, launch.site, &hStream, per_thread);
           struct sc_work work = {0};
           struct host_call *call = function ? prepare_call(&launch, hStream, per_thread,
                                                            (uintptr_t)function, data, &work)
                                             : NULL;
           if (call) call->function = function;
           return sc_detour_end(&detour, end_call(call, &work,
                                                  call ? REAL(hStream, run_function, call)
                                                       : REAL(hStream, function, data)));)

SC_DEFINE2(
    cuStreamAddCallback, _ptsz,
    (CUstream hStream, CUstreamCallback callback, void *data, unsigned flags),
    struct sc_culprit launch = {API, SC_SITE(), NULL};
    CUstream named = hStream; struct sc_detour detour;
    sc_detour_begin(&detour, API, launch.site, &hStream, per_thread); struct sc_work work = {0};
    struct host_call *call = callback ? prepare_call(&launch, hStream, per_thread, 0, data, &work)
                                      : NULL;
    if (!call) {
        CUresult refused = sc_work_end(&work, REAL(hStream, callback, data, flags));
        if (sc_detour_leaves(&detour))
            sc_permit_refused(API, launch.site, refused);
        return sc_detour_end(&detour, refused);
    } call->callback = callback;
    call->stream = named; call->detoured = sc_detour_taken(&detour);
    return sc_detour_end(&detour, end_call(call, &work, REAL(hStream, run_callback, call, flags)));)
