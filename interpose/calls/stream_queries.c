/* What programs ask the driver about a stream. Asked of the legacy stream while a blocking one
 * captures, or of a stream that captures, the question alone breaks the capture (docs/driver.md,
 * Q21 and Q27). Of the legacy stream the answers are known, but for its id. */
#include "interpose/capture/detours.h"
#include "interpose/capture/permits.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"

#include "track/poison.h"

static CUcontext current_context(void)
{
    CUcontext context = NULL;
    sc_real.cuCtxGetCurrent(&context);
    return context;
}

/* Of the legacy stream while a capture stands in its way, the answer is known. */
static bool is_answered(struct sc_detour *detour, const struct sc_call *call, CUstream stream,
                        const void *answer)
{
    sc_detour_init(detour, call);
    return answer && sc_detour_begin_query(detour, call, stream, NULL);
}

static CUresult asked(struct sc_detour *detour, CUresult result)
{
    if (sc_detour_leaves_to_caller(detour))
        sc_permit_refused(detour->call, result);
    return sc_detour_end(detour, result);
}

SC_PAIR(cuStreamGetFlags, _ptsz, (CUstream stream, unsigned *flags), (stream, flags))
{
    struct sc_detour detour;
    if (!is_answered(&detour, call, stream, flags))
        return asked(&detour, real(stream, flags));
    *flags = CU_STREAM_DEFAULT;
    return sc_detour_end(&detour, CUDA_SUCCESS);
}

SC_PAIR(cuStreamGetPriority, _ptsz, (CUstream stream, int *priority), (stream, priority))
{
    struct sc_detour detour;
    if (!is_answered(&detour, call, stream, priority))
        return asked(&detour, real(stream, priority));
    *priority = 0;
    return sc_detour_end(&detour, CUDA_SUCCESS);
}

SC_PAIR(cuStreamGetCtx, _ptsz, (CUstream stream, CUcontext *context), (stream, context))
{
    struct sc_detour detour;
    if (!is_answered(&detour, call, stream, context))
        return asked(&detour, real(stream, context));
    *context = current_context();
    return sc_detour_end(&detour, CUDA_SUCCESS);
}

/* ---- only reported where they are refused ---- */

SC_PAIR(cuStreamGetId, _ptsz, (CUstream stream, unsigned long long *id), (stream, id))
{
    return sc_permit_refused(call, real(stream, id));
}

SC_PAIR(cuStreamGetCtx_v2, _ptsz, (CUstream stream, CUcontext *context, CUgreenCtx *green),
        (stream, context, green))
{
    return sc_permit_refused(call, real(stream, context, green));
}
