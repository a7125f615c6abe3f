/* Permits: while something captures, a call that no capture permits (cudaMalloc, for example) is
 * made in a way that breaks no capture.
 *
 * While a stream captures, some calls fail with CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (900) and
 * invalidate the capture, also that of another thread (docs/driver.md). If the capture mode of the
 * calling thread is relaxed, such calls succeed and break nothing. With capture=repair they are
 * made in relaxed mode, and reported (SC302, SC303). Calls that break a capture because they use
 * the legacy stream are handled in interpose/capture/detours.h.
 *
 * While nothing has ever captured, a permit is one relaxed load. Locks: takes those of captures.h.
 * Not for a signal handler. errno is kept. */

/* Terms (docs/glossary.md):
 *   detour: an operation of the legacy stream that the library issues on a private stream
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   permit: leave for a call that no capture allows: it is made under the relaxed capture mode
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_CAPTURE_PERMITS_H
#define SC_INTERPOSE_CAPTURE_PERMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/capture/captures.h"
#include "interpose/driver/driver.h"
#include "interpose/streams/capturing.h"

struct sc_call;

/* The permit of one call, from sc_permit_begin to sc_permit_end. The thread's mode is relaxed even
 * while no capture is open, since another thread may begin one before the driver handles the call.
 */
struct sc_permit {
    const struct sc_call *call; /* NULL: nothing has ever captured, so nothing is done */
    bool endangers;             /* the call would break `capture` */
    bool relaxed;               /* the thread's mode is relaxed; it was `before` */
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

/* Returns true if the driver will refuse the call. */
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

/* For a wrapper: evaluates `result`, an expression that makes the driver's call, under a permit: in
 * the relaxed capture mode, once the process has captured. The value is the call's result. */
#define SC_PERMITTED(result)                                                                       \
    __extension__({                                                                                \
        struct sc_permit permit;                                                                   \
        sc_permit_begin(&permit, call);                                                            \
        sc_permit_end(&permit, result);                                                            \
    })

#endif
