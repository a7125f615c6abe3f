/* Makes calls that no capture permits (cudaMalloc, for example) in a way that breaks none; such a
 * call is made under a permit.
 *
 * While a stream captures, some calls fail with CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (900) and
 * invalidate the capture, also a capture of another thread (docs/driver.md). Where the capture mode
 * of the calling thread is relaxed, such calls succeed and do no harm. With capture=repair they are
 * made so, and reported (SC302, SC303). Calls that break a capture by way of the legacy stream are
 * in interpose/capture/detours.h.
 *
 * While nothing has ever captured, a permit is one relaxed load.
 * Locks: those of captures.h inside. Not for a signal handler. errno is kept. */
#ifndef SC_INTERPOSE_CAPTURE_PERMITS_H
#define SC_INTERPOSE_CAPTURE_PERMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/capture/captures.h"
#include "interpose/driver/driver.h"
#include "interpose/streams/capturing.h"

struct sc_call;

/* The permit of one call, from sc_permit_begin to sc_permit_end. The thread's mode is relaxed also
 * while no capture is open: another thread may begin one before the driver looks. */
struct sc_permit {
    const struct sc_call *call; /* NULL: nothing has ever captured */
    bool endangers;             /* the call would break `capture` */
    bool relaxed;               /* the thread's mode is relaxed, and was `before` */
    CUstreamCaptureMode before;
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

/* Reports a call that the driver has refused because of a capture, and that cannot be made under a
 * permit. Returns `result`. */
static inline CUresult sc_permit_report_refused(const struct sc_call *call, CUresult result)
{
    if (sc_captures_any_open() && sc_driver_is_capture_error(result)) {
        struct sc_permit permit = {.call = call};
        sc_permit_report(&permit, result);
    }
    return result;
}

/* For a wrapper: makes the call `result` under a permit. Its value is the call's result. */
#define SC_PERMITTED(result)                                                                       \
    __extension__({                                                                                \
        struct sc_permit permit;                                                                   \
        sc_permit_begin(&permit, call);                                                            \
        sc_permit_end(&permit, result);                                                            \
    })

#endif
