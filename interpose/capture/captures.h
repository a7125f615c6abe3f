/* Open stream captures, and calls that would break one.
 *
 * While a stream captures, some calls fail with CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (900) and
 * invalidate the capture, also one of another thread's (docs/driver.md). Under the
 * calling thread's relaxed capture mode they succeed and do no harm: with capture=repair they are
 * made so, and reported (SC302, SC303). interpose/capture/detours.h has the other half, the legacy
 * stream.
 *
 * Thread-safe. While nothing has ever captured, each function here is one relaxed load.
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
#include "interpose/streams/streams.h"
#include "track/hazard.h"

struct sc_context;

/* Who began a capture, and how. */
struct sc_capture {
    struct sc_stream_record *stream; /* its origin */
    uint64_t name;
    CUstreamCaptureMode mode;
    uintptr_t graph;             /* that it adds to; the driver says so only while it is valid */
    bool to_graph;               /* which the program has made, and which outlives it */
    struct sc_hazard_copy begin; /* as hazards tell of it */
};

/* 0 or -ENOMEM. */
int sc_captures_init(void);

extern _Atomic unsigned sc_captures_count;

static inline bool sc_captures_open(void)
{
    return __builtin_expect(atomic_load_explicit(&sc_captures_count, memory_order_relaxed) != 0, 0);
}

/* Called before the driver begins a capture. The capture counts as open from here on, since another
 * thread's call can break it before this thread learns that it has begun. Marks are left behind
 * what was issued on the stream. Returns the capture's name, or 0 if there is no room. Locks: the
 * stream's is held on return. */
uint64_t sc_captures_beginning(struct sc_stream_record *stream, CUstreamCaptureMode mode,
                               bool to_graph, const struct sc_call *call);

/* Called after the driver: gives the lock back. A capture that did not begin is forgotten. */
void sc_captures_began(struct sc_stream_record *stream, uint64_t name, bool begun);

/* The graph that a capture of the stream adds to; 0 if the driver does not say. */
uintptr_t sc_captures_graph_of(struct sc_stream_record *stream);

/* The graph of the capture that the stream began, if it goes where that fails; or 0. */
uintptr_t sc_captures_own_graph(const struct sc_stream_record *stream);

/* The stream's capture may have ended, or the stream itself. */
void sc_captures_ended(struct sc_stream_record *stream);

/* The context is gone, and its captures with it. */
void sc_captures_context_gone(const struct sc_context *context);

/* Around a call that makes the stream capture: operations in the legacy stream that it would stand
 * in the way of are kept apart from that (legacy_gate.h). Whether the gate is shut. */
bool sc_captures_shut_gate(const struct sc_stream_record *stream);
void sc_captures_open_gate(bool shut);

/* The stream is about to wait for an event, which may join it into a capture. */
void sc_captures_joining(struct sc_stream_record *stream);

/* The event was recorded in the stream, which captures; with NULL, where nothing captures, or it is
 * destroyed. */
void sc_captures_note_event(CUevent event, struct sc_stream_record *stream);

/* Was it last recorded in a capture that is still open? */
bool sc_captures_own_event(CUevent event);

/* A capture that an operation in the legacy stream of the context would break: the latest. */
struct sc_capture sc_captures_blocking(const struct sc_context *context);

/* The capture that the stream belongs to, as far as it is known: its own, or the latest. */
struct sc_capture sc_captures_of(const struct sc_stream_record *stream);

/* A call that no capture permits: sc_permit_begin before it, sc_permit_end after it with its
 * result. It is relaxed also while no capture is open, since another thread may begin one before
 * the driver looks. */
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
    if (__builtin_expect(sc_streams_captures_seen(), 0))
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

/* A call that was refused, and that nothing can be done for, is reported. */
static inline CUresult sc_permit_refused(const struct sc_call *call, CUresult result)
{
    if (sc_captures_open() && sc_is_capture_error(result)) {
        struct sc_permit permit = {.call = call};
        sc_permit_report(&permit, result);
    }
    return result;
}

/* The thread's capture mode becomes relaxed, also for what the permits of nested wrappers go by;
 * what it was comes back. */
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
