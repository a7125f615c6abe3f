#include "interpose/missed/replay.h"

#include <string.h>

#include "cupti_hooks/subscription.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/calls/event_calls.h"
#include "interpose/calls/host_memory.h"
#include "interpose/calls/issue.h"
#include "interpose/capture/captures.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"
#include "interpose/streams/streams.h"
#include "report/options.h"
#include "track/frames.h"
#include "track/hazard.h"
#include "track/track.h"

#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>

#include "track/poison.h"

enum when { NEVER, BEFORE, AFTER, BOTH }; /* the driver carries the call out */

/* ---- through wrappers ---- */

#define SC_REPLAY(symbol, when, arguments)                                                         \
    static void replay_##symbol(const void *parameters)                                            \
    {                                                                                              \
        const symbol##_params *a = parameters;                                                     \
        (void)a;                                                                                   \
        symbol arguments;                                                                          \
    }
typedef void cuCtxSynchronize_params; /* it has none */
#include "interpose/missed/replay.def"
#include "interpose/streams/capturing.h"

/* ---- others ---- */

/* The wrapper would have had its function run by the driver, and have seen it start. */
static void work(const struct sc_call *call, CUstream stream)
{
    struct sc_work work = sc_work_begin(call, stream, SC_WORK_MAY_WRITE | SC_WORK_SIGNALS);
    sc_work_end(&work, CUDA_SUCCESS);
}

/* The wait may have drawn the stream into a capture: nothing may be recorded on it then. */
static void wait(const struct sc_call *call, CUstream handle, CUevent event)
{
    struct sc_stream_record *stream =
        sc_active() ? sc_streams_find(handle, call->per_thread) : NULL;
    if (sc_captures_any_open())
        sc_capturing_changed();
    if (!stream || sc_streams_is_capturing(stream))
        return;
    struct sc_wait made; /* just now: nobody has told of its beginning */
    sc_event_calls_join(stream, event);
    sc_track_begin_wait(&sc_track, stream->id, (uintptr_t)event, &made);
    sc_track_end_wait(&sc_track, &made, true);
}

#define REPLAY(symbol, is_per_thread, note)                                                        \
    static void replay_##symbol(const void *parameters)                                            \
    {                                                                                              \
        const symbol##_params *a = parameters;                                                     \
        const struct sc_call *const call =                                                         \
            &(const struct sc_call){#symbol, SC_SITE(), is_per_thread};                            \
        (void)call;                                                                                \
        note;                                                                                      \
    }

REPLAY(cuLaunchHostFunc, false, work(call, a->hStream))
REPLAY(cuLaunchHostFunc_ptsz, true, work(call, a->hStream))
REPLAY(cuStreamAddCallback, false, work(call, a->hStream))
REPLAY(cuStreamAddCallback_ptsz, true, work(call, a->hStream))
REPLAY(cuStreamWaitEvent, false, wait(call, a->hStream, a->hEvent))
REPLAY(cuStreamWaitEvent_ptsz, true, wait(call, a->hStream, a->hEvent))

REPLAY(cuMemHostAlloc, false, sc_host_memory_pinned(*a->pp, a->bytesize, a->Flags))
REPLAY(cuMemAllocHost, false, sc_host_memory_pinned(*a->pp, a->bytesize, 0))
REPLAY(cuMemAllocHost_v2, false, sc_host_memory_pinned(*a->pp, a->bytesize, 0))
REPLAY(cuMemHostRegister, false, sc_host_memory_registered(a->p, a->bytesize, a->Flags))
REPLAY(cuMemHostRegister_v2, false, sc_host_memory_registered(a->p, a->bytesize, a->Flags))
REPLAY(cuMemAllocManaged, false, sc_host_memory_managed(*a->dptr, a->bytesize))
REPLAY(cuMemFreeHost, false, sc_host_memory_leaves(a->p, SC_PINNED, call))
REPLAY(cuMemHostUnregister, false, sc_host_memory_leaves(a->p, SC_REGISTERED, call))

/* ---- which, and when ---- */

struct replay {
    void (*note)(const void *parameters);
    enum when when;
    bool wrapped; /* by running the wrapper, which knows what failed */
};

static const struct replay replays[CUPTI_DRIVER_TRACE_CBID_SIZE] = {
#define SC_REPLAY(symbol, when, arguments)                                                         \
    [CUPTI_DRIVER_TRACE_CBID_##symbol] = {replay_##symbol, when, true},
#define SC_REPLAY_ELSEWHERE(symbol, when)                                                          \
    [CUPTI_DRIVER_TRACE_CBID_##symbol] = {replay_##symbol, when, false},
#include "interpose/missed/replay.def"
};

/* Each function that is wrapped has a row. */
enum {
#define SC_REPLAY(symbol, when, arguments) symbol##_has_a_row,
#define SC_REPLAY_ELSEWHERE(symbol, when) symbol##_has_a_row,
#define SC_NO_REPLAY(symbol) symbol##_has_a_row,
#include "interpose/missed/replay.def"
};
#define SC_WRAP(symbol, name, version, variant) _Static_assert(symbol##_has_a_row >= 0, #symbol);
#include "interpose/driver/api.def"

/* While a capture begins that no wrapper knows of, and before its wrapper is run, no mark may be
 * recorded on its stream: the driver is asked what captures. */
static bool begins_capture(const struct sc_missed_call *call)
{
    return strncmp(call->name, "cuStreamBeginCapture", strlen("cuStreamBeginCapture")) == 0;
}

/* Nothing is known of a call that failed, but what captures make of it, which wrappers note. */
static bool is_due(const struct replay *replay, const struct sc_missed_call *call, bool entering)
{
    if (replay->when == BOTH && entering)
        return sc_options.mode == SC_MODE_FIX;
    if (replay->when != BOTH && replay->when != (entering ? BEFORE : AFTER))
        return false;
    return entering || call->result == CUDA_SUCCESS ||
           (replay->wrapped && sc_driver_is_capture_error((CUresult)call->result));
}

void sc_replay(const struct sc_missed_call *call, bool entering)
{
    if (call->id >= CUPTI_DRIVER_TRACE_CBID_SIZE || !sc_active() || sc_replaying_is_on())
        return;
    const struct replay *replay = &replays[call->id];
    if (!entering)
        sc_context_calls_bury_ended();
    if (begins_capture(call)) {
        sc_capturing_note();
        sc_capturing_changed();
    }
    if (!is_due(replay, call, entering))
        return;
    sc_replaying = (struct sc_replaying){
        .frame = SC_FRAME(),
        .armed = true,
        .prepares = entering && replay->when == BOTH,
        .answer = entering ? CUDA_ERROR_NOT_READY : (CUresult)call->result,
        .correlation_id = call->correlation_id,
    };
    replay->note(call->parameters);
    sc_replaying = (struct sc_replaying){.armed = false};
}

const uint16_t *sc_replay_ids(size_t *count)
{
    static uint16_t ids[CUPTI_DRIVER_TRACE_CBID_SIZE];
    *count = 0;
    for (unsigned id = 0; id < CUPTI_DRIVER_TRACE_CBID_SIZE; id++)
        if (replays[id].note)
            ids[(*count)++] = (uint16_t)id;
    return ids;
}
