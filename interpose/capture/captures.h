/* Open stream captures, and calls that would break one.
 *
 * While a stream captures, some calls fail with CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (900) and
 * invalidate the capture, also a capture of another thread (docs/driver.md). Where the capture mode
 * of the calling thread is relaxed, such calls succeed and do no harm. With capture=repair they are
 * made so, and reported (SC302, SC303). Calls that break a capture by way of the legacy stream are
 * in interpose/capture/detours.h.
 *
 * While nothing has ever captured, each function here is one relaxed load.
 * Thread-safe. Locks: one of its own, a leaf. Not for a signal handler.
 */
#ifndef SC_INTERPOSE_CAPTURE_CAPTURES_H
#define SC_INTERPOSE_CAPTURE_CAPTURES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/driver/call.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"
#include "interpose/streams/capturing.h"
#include "interpose/streams/streams.h"
#include "track/hazard.h"

struct sc_context;

/* Who began a capture, and how. */
struct sc_capture {
    struct sc_stream_record *stream; /* its origin */
    uint64_t name;
    CUstreamCaptureMode mode;
    uintptr_t graph; /* the capture adds to it; the driver tells only of valid captures */
    bool to_graph;   /* the program has made the graph, which outlives the capture */
    struct sc_hazard_copy begin; /* as hazards tell of it */
};

/* 0 or -ENOMEM. */
int sc_captures_init(void);

extern _Atomic unsigned sc_captures_count;

static inline bool sc_captures_any_open(void)
{
    return __builtin_expect(atomic_load_explicit(&sc_captures_count, memory_order_relaxed) != 0, 0);
}

/* Called before the driver begins a capture. The capture counts as open from now on, since a call
 * of another thread can break it before this thread learns that it has begun. Marks are left behind
 * what was issued on the stream. Returns the capture's name; 0: there is no room. Locks: the
 * stream's lock is held on return. */
uint64_t sc_captures_beginning(struct sc_stream_record *stream, CUstreamCaptureMode mode,
                               bool to_graph, const struct sc_call *call);

/* Called when the driver has returned: gives the stream's lock back. A capture that did not begin
 * is forgotten. */
void sc_captures_began(struct sc_stream_record *stream, uint64_t name, bool begun);

/* The graph of the capture that the stream began, if the graph goes when the capture fails; or 0.
 */
uintptr_t sc_captures_own_graph(const struct sc_stream_record *stream);

/* The stream's capture may have ended, or the stream itself. */
void sc_captures_ended(struct sc_stream_record *stream);

/* The context is gone, and its captures with it. */
void sc_captures_context_gone(const struct sc_context *context);

/* Around a call that makes the stream capture. The gate (legacy_gate.h) keeps operations apart that
 * the capture would stand in the way of: those in the legacy stream. Returns whether the gate was
 * shut, for sc_captures_open_gate. */
bool sc_captures_shut_gate(const struct sc_stream_record *stream);
void sc_captures_open_gate(bool shut);

/* The stream is about to wait for an event, which may join it into a capture. */
void sc_captures_joining(struct sc_stream_record *stream);

/* The event was recorded in the stream, which captures. NULL: the event was recorded where nothing
 * captures, or is destroyed. */
void sc_captures_note_event(CUevent event, struct sc_stream_record *stream);

/* Was the event last recorded in a capture that is still open? */
bool sc_captures_is_captured_event(CUevent event);

/* A capture that an operation in the legacy stream of the context would break: the latest. */
struct sc_capture sc_captures_blocking(const struct sc_context *context);

/* The capture that the stream belongs to, as far as it is known: its own, or the latest. */
struct sc_capture sc_captures_of(const struct sc_stream_record *stream);

/* A call that no capture permits, between sc_permit_begin and sc_permit_end, which gets the result.
 * The thread is relaxed also while no capture is open: another thread may begin one before the
 * driver looks. */
struct sc_permit {
    const struct sc_call *call; /* NULL: nothing has ever captured */
    bool endangers, relaxed;
    CUstreamCaptureMode before;
    enum sc_hazard_code code;
    struct sc_capture capture;
};

void sc_permit_prepare(struct sc_permit *permit, const struct sc_call *call);
void sc_permit_report(struct sc_permit *permit, CUresult result);

static inline void sc_permit_begin(struct sc_permit *permit, const struct sc_call *call)
{
    permit->call = NULL;
    if (__builtin_expect(sc_capturing_seen(), 0))
        sc_permit_prepare(permit, call);
}

static inline CUresult sc_permit_end(struct sc_permit *permit, CUresult result)
{
    if (__builtin_expect(permit->call != NULL, 0))
        sc_permit_report(permit, result);
    return result;
}

/* Will the driver refuse the call? */
static inline bool sc_permit_is_refused(const struct sc_permit *permit)
{
    return permit->call && permit->endangers && !permit->relaxed;
}

/* Reports a call that was refused, where nothing can be done for the call. Returns its result. */
static inline CUresult sc_permit_refused(const struct sc_call *call, CUresult result)
{
    if (sc_captures_any_open() && sc_driver_is_capture_error(result)) {
        struct sc_permit permit = {.call = call};
        sc_permit_report(&permit, result);
    }
    return result;
}

/* The capture mode of the thread becomes relaxed, and so does the mode by which permits of nested
 * wrappers go. Unrelax brings back the mode that relax returned. */
CUstreamCaptureMode sc_captures_relax(void);
void sc_captures_unrelax(CUstreamCaptureMode before);

/* In a wrapper: the call, made so that it breaks no capture. */
#define SC_PERMITTED(result)                                                                       \
    __extension__({                                                                                \
        struct sc_permit permit;                                                                   \
        sc_permit_begin(&permit, call);                                                            \
        sc_permit_end(&permit, result);                                                            \
    })

#endif
