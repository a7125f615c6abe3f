/* Detours: operations in the legacy stream while a blocking stream captures.
 *
 * The driver refuses such an operation with CUDA_ERROR_STREAM_CAPTURE_IMPLICIT (906) and
 * invalidates the capture, since the legacy stream would have to wait for work that is only being
 * recorded (SC301). With capture=repair the operation runs in a private non-blocking stream of the
 * context instead. There it runs after all that the legacy stream would have waited for, and before
 * later work in any blocking stream or in the legacy stream. A stream that captures waits for the
 * detour when its capture has ended.
 *
 * Locks: a context's detours are made one at a time, under a lock of the context that is taken
 * before any stream's lock. Not for a signal handler. errno is kept.
 */
#ifndef SC_INTERPOSE_CAPTURE_DETOURS_H
#define SC_INTERPOSE_CAPTURE_DETOURS_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/capture/captures.h"
#include "interpose/capture/legacy_gate.h"
#include "interpose/driver/call.h"

struct sc_stream_record;
struct sc_context;

struct sc_detour {
    struct sc_context *context; /* NULL: no capture stands in the way of the operation */
    const struct sc_call *call;
    CUstream stream; /* the private stream; NULL: there is none, and the driver will refuse the
                        operation */
    struct sc_capture_begin capture; /* the capture that stands in the way */
    CUstreamCaptureMode before;      /* the thread's capture mode, which is relaxed meanwhile */
    bool in_gate;                    /* of legacy_gate.h, until sc_detour_finish */
    bool caller_reports;             /* the caller reports what the driver refuses */
    bool answered; /* the driver is not called: a query is answered by us, or a wait is left out */
};

void sc_detour_prepare(struct sc_detour *detour, CUstream *stream);
void sc_detour_finish(struct sc_detour *detour, CUresult result);

static inline void sc_detour_init(struct sc_detour *detour, const struct sc_call *call)
{
    detour->context = NULL;
    detour->call = call;
    detour->in_gate = false;
    detour->caller_reports = false;
}

static inline bool sc_detour_is_legacy(CUstream stream, bool per_thread)
{
    return stream == CU_STREAM_LEGACY || (!stream && !per_thread);
}

/* May a capture stand in the way of an operation in the stream? Two relaxed loads while no blocking
 * stream has ever captured. */
static inline bool sc_detour_may_be_needed(CUstream stream, bool per_thread)
{
    return (sc_legacy_gate_is_used() || sc_captures_any_open()) &&
           sc_detour_is_legacy(stream, per_thread);
}

/* Begins an operation in `*stream`. If the operation must be made in the private stream, that
 * replaces `*stream`. */
static inline void sc_detour_begin(struct sc_detour *detour, const struct sc_call *call,
                                   CUstream *stream)
{
    sc_detour_init(detour, call);
    if (sc_detour_may_be_needed(*stream, call->per_thread))
        sc_detour_prepare(detour, stream);
}

/* Begins a wait of the stream for the event. The legacy stream cannot wait for an event of a
 * capture, which is reached at a launch, if ever. True: the wait is left out. */
bool sc_detour_begin_wait(struct sc_detour *detour, const struct sc_call *call, CUstream *stream,
                          CUevent event);

/* Begins a query of the stream. True: the driver is not asked, and `*answer` is the answer.
 * `answer` NULL: the caller knows the answer. */
bool sc_detour_begin_query(struct sc_detour *detour, const struct sc_call *call, CUstream stream,
                           CUresult *answer);

static inline CUresult sc_detour_end(struct sc_detour *detour, CUresult result)
{
    if (__builtin_expect(detour->context != NULL || detour->in_gate ||
                             result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                         0))
        sc_detour_finish(detour, result);
    return result;
}

/* Reports a call that the driver has refused because of a capture, and for which no detour was
 * made. The parameters are the members of a struct sc_call. */
void sc_detour_report_refused(const char *api, void *site, bool per_thread, CUresult result);

/* The caller reports what the driver refuses from now on. Returns whether no capture stands in the
 * way of the operation. */
static inline bool sc_detour_leave_report_to_caller(struct sc_detour *detour)
{
    detour->caller_reports = true;
    return !detour->context;
}

/* Does the operation run in the private stream? */
static inline bool sc_detour_is_taken(const struct sc_detour *detour)
{
    return __builtin_expect(detour->context != NULL, 0) && detour->stream;
}

/* Called before the whole context waits for an event: leaves a fence (marks.h) in all its streams,
 * and in those of its green contexts. */
void sc_detours_fence_context(struct sc_context *context);

/* A capture has ended, which may have spanned several contexts: makes the waits for detours that
 * streams still owe. */
void sc_detours_make_owed_waits(void);

#endif
