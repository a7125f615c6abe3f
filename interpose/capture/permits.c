#include "interpose/capture/permits.h"

#include "common/hazard_words.h"
#include "interpose/base/process.h"
#include "interpose/driver/replaying.h"
#include "interpose/streams/contexts.h"

#include "common/poison.h"

/* Stores the capture to name in the report of a call that breaks every capture in the current
 * context, whatever the modes of thread and capture are. Returns false if there is no current
 * context. */
static bool find_in_context(struct sc_capture *capture)
{
    struct sc_context *context = sc_active() ? sc_contexts_current() : NULL;
    if (context)
        *capture = sc_captures_find_blocking(context);
    return context != NULL;
}

/* Called before a call that no capture permits, once the process has captured: relaxes the thread's
 * capture mode for that call, so that it succeeds and captures go on. Not if the program has
 * relaxed the mode itself, or without capture=repair. Before that it finds the capture that the
 * call would break, for the report. */
void sc_permit_prepare(struct sc_permit *permit, const struct sc_call *call)
{
    permit->call = call;
    permit->relaxed = false;
    permit->endangers =
        sc_captures_any_open() && sc_active() && sc_captures_find_endangered(&permit->capture);
    if (!sc_active() || sc_captures_mode_is_relaxed() || !sc_captures_are_repaired() ||
        !sc_real.cuThreadExchangeStreamCaptureMode)
        return;
    permit->before = CU_STREAM_CAPTURE_MODE_RELAXED;
    permit->relaxed = sc_real.cuThreadExchangeStreamCaptureMode(&permit->before) == CUDA_SUCCESS;
}

/* Did the driver refuse the call before it looked at captures? Then the call would have broken
 * none, and nothing is reported. The driver does so for an invalid handle, or if there is no
 * context. It sees other mistakes only later. */
static bool is_refused_before_capture(CUresult result)
{
    return result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_INVALID_CONTEXT;
}

/* Returns the code of the hazard, by what the call has broken or would have: a capture by use of
 * the legacy stream (SC301), the thread's own capture (SC302), another thread's (SC303). */
static enum sc_hazard_code hazard_code_of(const struct sc_permit *permit, CUresult result)
{
    if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
        return SC301;
    return sc_captures_is_own(&permit->capture) ? SC302 : SC303;
}

/* Called when the driver has answered a call that no capture permits: restores the thread's capture
 * mode, and reports the call if it has broken a capture, or would have without the relaxed mode. A
 * call that the driver refuses in relaxed mode as well (a synchronise of the capturing stream
 * itself) is reported as not repaired. */
void sc_permit_report(struct sc_permit *permit, CUresult result)
{
    SC_KEEP_ERRNO();
    if (permit->relaxed)
        sc_real.cuThreadExchangeStreamCaptureMode(&permit->before);
    bool refused = sc_driver_is_capture_error(result);
    if (refused && (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT || !permit->endangers))
        permit->endangers = find_in_context(&permit->capture);
    if (permit->endangers && (refused || (permit->relaxed && !is_refused_before_capture(result))))
        sc_captures_report(hazard_code_of(permit, result),
                           refused ? SC_ACTION_REPORTED : SC_ACTION_REROUTED,
                           &permit->capture.begin, permit->call);
}
