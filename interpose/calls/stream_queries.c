/* What programs ask the driver about a stream. Asked of the legacy stream while a blocking one
 * captures, or of a stream that captures, the question alone breaks the capture (docs/driver.md,
 * Q21 and Q27). Of the legacy stream the answers are known, but for its id. */
#include "interpose/base/compiler.h"
#include "interpose/capture/captures.h"
#include "interpose/capture/detours.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"

#include "track/poison.h"

static CUcontext current_context(void)
{
    CUcontext context = NULL;
    sc_real.cuCtxGetCurrent(&context);
    return context;
}

#define QUESTION(symbol, type, of_legacy)                                                          \
    SC_DEFINE2(                                                                                    \
        symbol, _ptsz, (CUstream hStream, type * answer), struct sc_detour detour = {0};           \
        if (answer && sc_detour_begin_query(&detour, API, SC_SITE(), hStream, per_thread, NULL)) { \
            *answer = of_legacy;                                                                   \
            return sc_detour_end(&detour, CUDA_SUCCESS);                                           \
        } CUresult result = REAL(hStream, answer);                                                 \
        if (sc_detour_leaves(&detour)) sc_permit_refused(API, SC_SITE(), result);                  \
        return sc_detour_end(&detour, result);)

QUESTION(cuStreamGetFlags, unsigned, CU_STREAM_DEFAULT)
QUESTION(cuStreamGetPriority, int, 0)
QUESTION(cuStreamGetCtx, CUcontext, current_context())

/* Only reported. */
#define REFUSED(symbol, parameters, arguments)                                                     \
    SC_DEFINE2(symbol, _ptsz, parameters, (void)per_thread;                                        \
               return sc_permit_refused(API, SC_SITE(), REAL arguments);)

REFUSED(cuStreamGetId, (CUstream hStream, unsigned long long *id), (hStream, id))
REFUSED(cuStreamGetCtx_v2, (CUstream hStream, CUcontext *context, CUgreenCtx *green),
        (hStream, context, green))
