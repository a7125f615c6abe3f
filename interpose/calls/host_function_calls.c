/* Host functions: when one starts, everything before it on its stream is done. */
#include "interpose/base/compiler.h"
#include "interpose/base/upcalls.h"
#include "interpose/calls/issue.h"
#include "interpose/capture/captures.h"
#include "interpose/capture/detours.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"
#include "interpose/reaper/hazards.h"
#include "interpose/streams/host_functions.h"
#include "track/inflight.h"
#include "track/order.h"
#include "track/pool.h"
#include "track/ticks.h"
#include "track/track.h"

#include "track/poison.h"

struct host_call {
    const char *api;
    void *site;
    uint64_t ticks; /* of the launch */
    unsigned open;  /* interpose/streams/host_functions.h */
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
        sc_host_functions_dropped(call->open);
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
    uint64_t ticks = call->ticks;
    give_call(call);
    sc_host_functions_runs(open, ticks);
    function(data);
    sc_host_functions_ran(open);
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
    unsigned open = call->open;
    uint64_t ticks = call->ticks;
    give_call(call);
    sc_host_functions_runs(open, ticks);
    callback(stream, status, data);
    sc_host_functions_ran(open);
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
