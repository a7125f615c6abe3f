/* Detours: operations that the program issues on the legacy stream while a blocking stream
 * captures, and that are made in another stream instead.
 *
 * The driver refuses such an operation with CUDA_ERROR_STREAM_CAPTURE_IMPLICIT (906) and
 * invalidates the capture, since the legacy stream would have to wait for work that is only being
 * recorded (SC301). With capture=repair the operation runs in a private non-blocking stream of the
 * context. It runs after all that the legacy stream would have waited for, and before later work in
 * any blocking stream or in the legacy stream. A stream that captures waits for the detour when its
 * capture has ended.
 *
 * Locks: a context's detours are made one at a time, under a lock of the context that is taken
 * before any stream's lock. Not for a signal handler. errno is kept. */

/* Terms (docs/glossary.md):
 *   blocking stream: a stream without CU_STREAM_NON_BLOCKING
 *   detour: an operation of the legacy stream that the library issues on a private stream
 *   fence: an event behind what a stream had before it began to capture
 *   gate: what keeps operations of the legacy stream and beginnings of captures apart
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   mark: an event of the library's behind an operation, by which it learns that this is complete
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   owe: of a stream: it cannot wait for a detour now, and has to wait later
 */

#ifndef SC_INTERPOSE_CAPTURE_DETOURS_H
#define SC_INTERPOSE_CAPTURE_DETOURS_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/capture/captures.h"
#include "interpose/capture/legacy_gate.h"
#include "interpose/driver/call.h"

struct sc_context;

/* One operation that may have to be made on the private stream (a detour), from before the driver's
 * call until it has answered. */
struct sc_detour {
    struct sc_context *context; /* NULL: no capture stands in the way of the operation */
    const struct sc_call *call;
    /* the private stream; NULL: there is none, so the driver will refuse the operation */
    CUstream stream;
    struct sc_capture_begin capture; /* the capture that stands in the way */
    /* the thread's capture mode, to be restored; it is relaxed meanwhile */
    CUstreamCaptureMode before;
    bool in_gate; /* the thread has entered the gate (legacy_gate.h) until sc_detour_finish */
    bool caller_reports; /* if the driver refuses the operation, the caller reports that */
    bool answered; /* the driver is not called: the library answers a query, or leaves a wait out */
};

/* The rare parts of sc_detour_begin and sc_detour_end, below. */
void sc_detour_prepare(struct sc_detour *detour, CUstream *stream);
void sc_detour_finish(struct sc_detour *detour, CUresult result);

/* Prepares the record for an operation that needs no detour, as far as is known. */
static inline void sc_detour_init(struct sc_detour *detour, const struct sc_call *call)
{
    detour->context = NULL;
    detour->call = call;
    detour->in_gate = false;
    detour->caller_reports = false;
}

/* Does the handle name the legacy stream? `per_thread`: the call is a _ptsz or _ptds variant, for
 * which NULL names the calling thread's own default stream. */
static inline bool sc_detour_is_legacy(CUstream stream, bool per_thread)
{
    return stream == CU_STREAM_LEGACY || (!stream && !per_thread);
}

/* Returns false only if no capture can stand in the way of an operation in the stream. Two relaxed
 * loads while no blocking stream has ever captured. */
static inline bool sc_detour_may_be_needed(CUstream stream, bool per_thread)
{
    return (sc_legacy_gate_is_used() || sc_captures_any_open()) &&
           sc_detour_is_legacy(stream, per_thread);
}

/* Begins an operation in `*stream`. If it must be made in the private stream, stores that in
 * `*stream`. */
static inline void sc_detour_begin(struct sc_detour *detour, const struct sc_call *call,
                                   CUstream *stream)
{
    sc_detour_init(detour, call);
    if (sc_detour_may_be_needed(*stream, call->per_thread))
        sc_detour_prepare(detour, stream);
}

/* Begins a wait of the stream for the event. Returns true if the wait is to be left out: the legacy
 * stream cannot wait for an event of a capture, since that is recorded at a launch, if ever. */
bool sc_detour_begin_wait(struct sc_detour *detour, const struct sc_call *call, CUstream *stream,
                          CUevent event);

/* Begins a query of the stream. Returns true if the driver must not be asked, and stores the answer
 * in `*answer`. `answer` NULL: the caller knows the answer. */
bool sc_detour_begin_query(struct sc_detour *detour, const struct sc_call *call, CUstream stream,
                           CUresult *answer);

/* Called when the driver has answered an operation that sc_detour_begin has begun. If a capture
 * stood in its way, it was made in a private stream (a detour): that ends, and is reported. An
 * operation that began within the gate, which keeps captures from beginning, leaves it.
 * CAPTURE_IMPLICIT says that the driver has refused the operation for a capture that was not seen
 * before, which is reported as well. Returns `result`. */
static inline CUresult sc_detour_end(struct sc_detour *detour, CUresult result)
{
    if (__builtin_expect(detour->context != NULL || detour->in_gate ||
                             result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                         0))
        sc_detour_finish(detour, result);
    return result;
}

/* Reports a call that the driver has refused because of a capture, and that was not made on a
 * private stream (a detour). The parameters but the last are the members of a struct sc_call. */
void sc_detour_report_refused(const char *api, void *site, bool per_thread, CUresult result);

/* Leaves it to the caller to report a refusal by the driver: the caller knows which other reason
 * its call may be refused for. Returns true if no capture stands in the way of the operation. */
static inline bool sc_detour_leave_report_to_caller(struct sc_detour *detour)
{
    detour->caller_reports = true;
    return !detour->context;
}

/* Returns true if the operation runs in the private stream. */
static inline bool sc_detour_is_taken(const struct sc_detour *detour)
{
    return __builtin_expect(detour->context != NULL, 0) && detour->stream;
}

/* Records a fence (an event that marks.h keeps) in all streams of the context and of its green
 * contexts. Called before the whole context waits for an event. */
void sc_detours_fence_context(struct sc_context *context);

/* Makes the waits for detours (operations on private streams) that streams could not make yet.
 * Called when a capture has ended, which may have spanned several contexts. */
void sc_detours_make_owed_waits(void);

#endif
