/* What programs ask the driver about a stream. Asked of the legacy stream while a blocking one
 * captures, or of a stream that captures, the question alone breaks the capture (docs/driver.md,
 * Q21 and Q27). The stream that legacy operations are moved to meanwhile answers for the legacy
 * one, but for its id, which is nobody else's. */
#include "interpose/captures.h"
#include "interpose/detours.h"
#include "interpose/wrap.h"

#include "track/poison.h"

/* In a wrapper: the question, where the detour sends it, or reported if it is refused. */
#define ASKED(arguments)                                                                           \
    (detour.context ? REAL arguments : sc_permit_refused(API, SC_SITE(), REAL arguments))

#define QUESTION(symbol, parameters, arguments)                                                    \
    SC_DEFINE2(symbol, _ptsz, parameters, struct sc_detour detour;                                 \
               sc_detour_begin(&detour, API, SC_SITE(), &hStream, per_thread);                     \
               return sc_detour_end(&detour, ASKED(arguments));)

QUESTION(cuStreamGetPriority, (CUstream hStream, int *priority), (hStream, priority))
QUESTION(cuStreamGetCtx, (CUstream hStream, CUcontext *context), (hStream, context))
QUESTION(cuStreamGetCtx_v2, (CUstream hStream, CUcontext *context, CUgreenCtx *green),
         (hStream, context, green))

SC_DEFINE2(cuStreamGetFlags, _ptsz, (CUstream hStream, unsigned *flags), struct sc_detour detour;
           sc_detour_begin(&detour, API, SC_SITE(), &hStream, per_thread);
           CUresult result = ASKED((hStream, flags));
           if (result == CUDA_SUCCESS && sc_detour_taken(&detour)) *flags = CU_STREAM_DEFAULT;
           return sc_detour_end(&detour, result);)

SC_DEFINE2(cuStreamGetId, _ptsz, (CUstream hStream, unsigned long long *id), (void)per_thread;
           return sc_permit_refused(API, SC_SITE(), REAL(hStream, id));)
