/* Wrappers of calls that launch host functions: functions of the program that the driver calls in a
 * stream's order. When one starts, everything before it on its stream is done. So the driver is
 * given a function of the library's, which notes that and calls the program's. */

/* Terms (docs/glossary.md):
 *   detour: an operation of the legacy stream that the library issues on a private stream
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   known done: waited for by the program, itself or by something behind it
 */

#include "common/arena.h"
#include "common/checks.h"
#include "common/mutex.h"
#include "common/ticks.h"
#include "interpose/calls/work.h"
#include "interpose/capture/detours.h"
#include "interpose/capture/permits.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"
#include "interpose/guard/door.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/excuses.h"
#include "interpose/reaper/hazards.h"
#include "interpose/streams/host_functions.h"
#include "track/track_order.h"

#include "common/poison.h"

/* A launched host function: what run_function or run_callback needs. */
struct host_call {
    const char *api;
    void *site;
    uint64_t ticks; /* of the launch */
    unsigned open;  /* its call in interpose/streams/host_functions.h */
    CUhostFn function;
    CUstreamCallback callback;
    CUstream stream; /* the stream that the program named, if the call runs in a private one */
    bool detoured;   /* the call runs in a detour's private stream */
    void *data;
    struct sc_point point;  /* what is done when the function starts */
    struct host_call *next; /* the next spare one */
};

static pthread_mutex_t calls_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_arena calls_arena SC_GUARDED_BY(calls_lock);
/* Records whose functions have run; guarded by calls_lock. */
static struct host_call *spare_calls;

/* Returns a record for one launched host function: an unused one, or a new one; NULL: no memory. It
 * lives until the function has started. */
static struct host_call *take_call(void)
{
    SC_LOCKED(&calls_lock);
    struct host_call *call = spare_calls;
    if (call)
        spare_calls = call->next;
    return call ? call : sc_arena_alloc(&calls_arena, sizeof *call);
}

/* Makes a record available again: its host function has started, or the driver has refused it. */
static void put_back_call(struct host_call *call)
{
    SC_LOCKED(&calls_lock);
    call->next = spare_calls;
    spare_calls = call;
}

/* One call that launches a host function, from before the driver's call. */
struct launch {
    struct sc_detour detour;
    struct sc_work work;
    struct host_call *wrapped; /* passed to the driver in the place of the program's function; NULL:
                                  that is passed on as it is */
};

/* Called first: finds out whether the function has to run on a private stream (`*stream`), since a
 * capture stands in the way of the legacy one (a detour). */
static void begin_launch(struct launch *launch, const struct sc_call *call, CUstream *stream)
{
    sc_detour_begin(&launch->detour, call, stream);
    launch->work = (struct sc_work){0};
    launch->wrapped = NULL;
}

/* Called before the driver's call: begins the launch as work of its stream, and returns a record
 * that the caller passes to the driver with run_function or run_callback in place of the program's
 * function. NULL: the program's function is passed as it is, since nothing has to be noted or there
 * is no memory. */
static struct host_call *wrap_function(struct launch *launch, CUstream stream, uintptr_t function,
                                       void *data)
{
    const struct sc_call *call = launch->detour.call;
    struct sc_work *work = &launch->work;
    sc_work_begin(work, call, stream, SC_WORK_FUNCTION);
    struct host_call *wrapped = launch->wrapped = work->stream ? take_call() : NULL;
    if (!wrapped)
        return NULL;
    *wrapped =
        (struct host_call){.api = call->api, .site = call->site, .ticks = sc_ticks(), .data = data};
    wrapped->point = sc_track_call_point(&sc_track, work->stream->id, &work->ordered);
    wrapped->open = sc_host_functions_launched(wrapped->ticks, work->stream->id, function);
    return wrapped;
}

/* Called when the driver has answered. If it has accepted the function, the record is not touched
 * any more: the function may have run already and put it back. If it has refused, the record is put
 * back here. Returns what the program gets. */
static CUresult end_launch(struct launch *launch, CUresult result)
{
    struct host_call *wrapped = launch->wrapped;
    if (wrapped && result != CUDA_SUCCESS) {
        sc_host_functions_dropped(wrapped->open);
        sc_track_release_point(&sc_track, &wrapped->point);
        put_back_call(wrapped);
    }
    return sc_detour_end(&launch->detour, sc_work_end(&launch->work, result));
}

/* Called when a host function starts: everything before it on its stream (the point) is known done,
 * and the pages of that are unprotected. */
static void note_earlier_done(struct host_call *call)
{
    sc_hazards_note_done_and_report(&call->point, SC_CULPRIT_OF(call));
    sc_guard_apply(SC_GUARD_ALL);
}

/* The driver calls this function, on a thread of its own, in place of the program's host function,
 * which is called here. While that runs, it counts as one that may wait for the program. The record
 * is put back before, since the program's function may never return. */
static void run_function(void *argument)
{
    struct host_call *call = argument;
    CUhostFn function = call->function;
    void *data = call->data;
    unsigned open = call->open;
    note_earlier_done(call);
    uint64_t ticks = call->ticks;
    put_back_call(call);
    sc_host_functions_note_begun(open, ticks);
    function(data);
    sc_excuses_function_returned(open);
    sc_host_functions_note_ended(open);
}

/* The driver calls this function in place of the program's callback (cuStreamAddCallback), which is
 * called here with the stream that the program has named. The driver also calls it when the stream
 * has failed: then nothing is noted as done. */
static void run_callback(CUstream stream, CUresult status, void *argument)
{
    struct host_call *call = argument;
    CUstreamCallback callback = call->callback;
    void *data = call->data;
    stream = call->detoured ? call->stream : stream;
    if (status == CUDA_SUCCESS)
        note_earlier_done(call);
    else
        sc_track_release_point(&sc_track, &call->point);
    unsigned open = call->open;
    uint64_t ticks = call->ticks;
    put_back_call(call);
    sc_host_functions_note_begun(open, ticks);
    callback(stream, status, data);
    sc_excuses_function_returned(open);
    sc_host_functions_note_ended(open);
}

#define LAUNCHES(symbol, parameters, arguments, ...)                                               \
    SC_PAIR(symbol, _ptsz, parameters, arguments)                                                  \
    {                                                                                              \
        struct launch launch;                                                                      \
        begin_launch(&launch, call, &stream);                                                      \
        if (!function || !wrap_function(&launch, stream, (uintptr_t)function, data))               \
            return end_launch(&launch, real arguments);                                            \
        launch.wrapped->function = function;                                                       \
        return end_launch(&launch, real(stream, run_function, launch.wrapped, ##__VA_ARGS__));     \
    }

LAUNCHES(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *data),
         (stream, function, data))
LAUNCHES(cuLaunchHostFunc_v2, (CUstream stream, CUhostFn function, void *data, unsigned mode),
         (stream, function, data, mode), mode)

/* Called when the driver has answered cuStreamAddCallback, if the program's callback was passed as
 * it is. On a stream that captures the driver refuses the call, which breaks the capture; that is
 * reported here, unless it is that of the legacy stream, of which sc_detour_end tells. */
static CUresult end_refused(struct launch *launch, CUresult result)
{
    if (sc_detour_leave_report_to_caller(&launch->detour))
        sc_permit_report_refused(launch->detour.call, result);
    return end_launch(launch, result);
}

/* Wrapper of an old way to launch a host function. On a private stream (a detour) the callback is
 * still given the stream that the program has named. */
SC_PAIR(cuStreamAddCallback, _ptsz,
        (CUstream stream, CUstreamCallback callback, void *data, unsigned flags),
        (stream, callback, data, flags))
{
    struct launch launch;
    CUstream named = stream;
    begin_launch(&launch, call, &stream);
    if (!callback || !wrap_function(&launch, stream, (uintptr_t)callback, data))
        return end_refused(&launch, real(stream, callback, data, flags));
    launch.wrapped->callback = callback;
    launch.wrapped->stream = named;
    launch.wrapped->detoured = sc_detour_is_taken(&launch.detour);
    return end_launch(&launch, real(stream, run_callback, launch.wrapped, flags));
}
