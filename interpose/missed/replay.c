#include "interpose/missed/replay.h"

#include <string.h>

#include "common/frames.h"
#include "common/op_kinds.h"
#include "cupti_hooks/subscription.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/calls/event_calls.h"
#include "interpose/calls/host_memory.h"
#include "interpose/calls/work.h"
#include "interpose/capture/captures.h"
#include "interpose/driver/call.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/newer_cupti.h"
#include "interpose/driver/replaying.h"
#include "interpose/driver/rows.h"
#include "interpose/streams/capturing.h"
#include "interpose/streams/streams.h"
#include "report/options.h"
#include "track/track_order.h"

#include "common/poison.h"

/* ---- what is recorded in place of a wrapper ---- */

/* Records a launched host function that came through no wrapper, in place of its wrapper: the
 * library's function is not in front of the program's, so its start is not seen (SC_WORK_SIGNALS).
 */
static void add_work(const struct sc_call *call, CUstream stream)
{
    struct sc_work work;
    sc_work_begin(&work, call, stream, SC_WORK_MAY_WRITE | SC_WORK_SIGNALS);
    sc_work_end(&work, CUDA_SUCCESS);
}

/* Records a stream's wait for an event, which the driver has made already, in place of its wrapper.
 * The wait may have made the stream join a capture, so what is known of captures is asked for anew;
 * on a stream that captures, nothing may be recorded. */
static void add_wait(const struct sc_call *call, CUstream handle, CUevent event)
{
    struct sc_stream_record *stream =
        sc_active() ? sc_streams_find(handle, call->per_thread) : NULL;
    if (sc_captures_any_open())
        sc_capturing_changed();
    if (!stream || sc_streams_is_capturing(stream))
        return;
    struct sc_wait just_made; /* the wait began without a wrapper */
    sc_event_calls_note_join(stream, event);
    sc_track_begin_wait(&sc_track, stream->id, (uintptr_t)event, &just_made);
    sc_track_end_wait(&sc_track, &just_made, /*issued=*/true);
}

/* ---- what to do, from the rows of api.def ---- */

#define DO_BEFORE(arguments) wrapper(SC_MEMBERS(a, arguments))
#define DO_AFTER(arguments) wrapper(SC_MEMBERS(a, arguments))
#define DO_BOTH(arguments) wrapper(SC_MEMBERS(a, arguments))
#define DO_AROUND(arguments) wrapper(SC_MEMBERS(a, arguments))
#define DO_NOTED_AFTER(note) note
#define DO_NOTED_AROUND(note) note
#define DO_NEVER(arguments) (void)0

/* Functions without parameters, of which CUPTI has no struct of parameters. */
typedef void cuCtxSynchronize_params;
typedef void cuProfilerStart_params;
typedef void cuProfilerStop_params;

#define SC_ROW(symbol, name, version, variant, replay, arguments)                                  \
    static void replay_##symbol(const void *parameters)                                            \
    {                                                                                              \
        const symbol##_params *const a = parameters;                                               \
        const struct sc_call *const call =                                                         \
            &(const struct sc_call){#symbol, SC_SITE(), sizeof #variant > 1};                      \
        __typeof__(symbol) *const wrapper = symbol;                                                \
        (void)a, (void)call, (void)wrapper;                                                        \
        DO_##replay(arguments);                                                                    \
    }
#include "interpose/driver/api.def"

/* When a missed call's wrapper is run: before the driver's call, behind it, or at both ends. BOTH:
 * the first run only orders, in mode=fix; AROUND: the first run notes what is gone afterwards. */
enum when { NEVER, BEFORE, AFTER, BOTH, AROUND };

/* How calls of one kind (a callback id of CUPTI) are replayed if they come through no wrapper. */
struct replay {
    void (*note)(const void *parameters);
    enum when when;
    bool wrapped; /* `note` runs the wrapper, which knows what a failed call means */
};

#define ROW_BEFORE BEFORE, true
#define ROW_AFTER AFTER, true
#define ROW_BOTH BOTH, true
#define ROW_AROUND AROUND, true
#define ROW_NOTED_AFTER AFTER, false
#define ROW_NOTED_AROUND AROUND, false
#define ROW_NEVER NEVER, false

/* A number above all callback ids, those of later versions of CUPTI included. */
enum { REPLAYS = 1024 };

static const struct replay replays[REPLAYS] = {
#define SC_ROW(symbol, name, version, variant, replay, arguments)                                  \
    [CUPTI_DRIVER_TRACE_CBID_##symbol] = {replay_##symbol, ROW_##replay},
#include "interpose/driver/api.def"
};

/* Does the call begin a capture? From its beginning on, the library must record no event on the
 * stream, although its wrapper, which would see to that, runs only behind it. So for such a call
 * the driver is asked anew which streams capture. */
static bool begins_capture(const struct sc_missed_call *call)
{
    return strncmp(call->name, "cuStreamBeginCapture", strlen("cuStreamBeginCapture")) == 0 ||
           strncmp(call->name, "cuStreamBeginRecapture", strlen("cuStreamBeginRecapture")) == 0;
}

/* Is the wrapper of a missed call to be run at this end of the call (`entering`: its beginning)? A
 * first run that only orders the call is of use in mode=fix alone. After a call that has failed,
 * the wrapper is run only if it has a first run to undo (AROUND), or if a capture may be the
 * reason, which wrappers report. */
static bool is_due(const struct replay *replay, const struct sc_missed_call *call, bool entering)
{
    if (replay->when == NEVER)
        return false;
    if (replay->when == BOTH && entering)
        return sc_options.mode == SC_MODE_FIX;
    if (replay->when != BOTH && replay->when != AROUND &&
        replay->when != (entering ? BEFORE : AFTER))
        return false;
    return entering || call->result == CUDA_SUCCESS || replay->when == AROUND ||
           (replay->wrapped && sc_driver_is_capture_error((CUresult)call->result));
}

/* Called at the beginning and at the end of a driver call that came through no wrapper: runs its
 * wrapper for what that records, with the driver's answer in place of a call (at the beginning
 * there is none yet: CUDA_ERROR_NOT_READY). Behind the call, contexts that have ended are dropped:
 * the call may have been their end. Not within a replay: what the wrapper calls is the library's
 * own. */
void sc_replay(const struct sc_missed_call *call, bool entering)
{
    if (call->id >= REPLAYS || !sc_active() || sc_replaying_is_on())
        return;
    const struct replay *replay = &replays[call->id];
    if (!entering)
        sc_context_calls_bury_ended();
    if (begins_capture(call)) {
        sc_capturing_note();
        sc_capturing_await_waits();
        sc_capturing_changed();
    }
    if (!is_due(replay, call, entering))
        return;
    sc_replaying = (struct sc_replaying){
        .frame = SC_FRAME(),
        .armed = true,
        .prepares = entering && (replay->when == BOTH || replay->when == AROUND),
        .answer = entering ? CUDA_ERROR_NOT_READY : (CUresult)call->result,
        .correlation_id = call->correlation_id,
    };
    replay->note(call->parameters);
    sc_replaying = (struct sc_replaying){.armed = false};
}

/* Returns CUPTI's ids of all calls of which the wrapper can be run if they come through none, for
 * cupti_hooks/, which has CUPTI report them. */
const uint16_t *sc_replay_ids(size_t *count)
{
    static uint16_t ids[REPLAYS];
    *count = 0;
    for (unsigned id = 0; id < REPLAYS; id++)
        if (replays[id].when != NEVER)
            ids[(*count)++] = (uint16_t)id;
    return ids;
}
