/* What programs ask the driver about a stream. A question breaks a capture if it is about a stream
 * that captures, or about the legacy stream while a blocking stream captures (docs/driver.md, Q21
 * and Q27). The library knows the answers for the legacy stream, but for its id. */

/* Terms (docs/glossary.md):
 *   blocking stream: a stream without CU_STREAM_NON_BLOCKING
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   wrapper: our function in the place of one of the driver's
 */

#include "interpose/capture/detours.h"
#include "interpose/capture/permits.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"

#include "common/poison.h"

static CUcontext current_context(void)
{
    CUcontext context = NULL;
    sc_real.cuCtxGetCurrent(&context);
    return context;
}

/* May the wrapper answer for the legacy stream, since a capture stands in the driver's way? */
static bool begin_answer(struct sc_detour *detour, const struct sc_call *call, CUstream stream,
                         const void *answer)
{
    sc_detour_init(detour, call);
    return answer && sc_detour_begin_query(detour, call, stream, NULL);
}

/* Ends a question that the driver has answered or refused. */
static CUresult end_question(struct sc_detour *detour, CUresult result)
{
    if (sc_detour_leave_report_to_caller(detour))
        sc_permit_report_refused(detour->call, result);
    return sc_detour_end(detour, result);
}

/* `known`: the answer for the legacy stream. */
#define QUESTION(symbol, type, known)                                                              \
    SC_PAIR(symbol, _ptsz, (CUstream stream, type * answer), (stream, answer))                     \
    {                                                                                              \
        struct sc_detour detour;                                                                   \
        if (!begin_answer(&detour, call, stream, answer))                                          \
            return end_question(&detour, real(stream, answer));                                    \
        *answer = known;                                                                           \
        return sc_detour_end(&detour, CUDA_SUCCESS);                                               \
    }

QUESTION(cuStreamGetFlags, unsigned, CU_STREAM_DEFAULT)
QUESTION(cuStreamGetPriority, int, 0)
QUESTION(cuStreamGetCtx, CUcontext, current_context())

/* ---- the answer is not known: a refusal is only reported ---- */

SC_PAIR(cuStreamGetId, _ptsz, (CUstream stream, unsigned long long *id), (stream, id))
{
    return sc_permit_report_refused(call, real(stream, id));
}

SC_PAIR(cuStreamGetCtx_v2, _ptsz, (CUstream stream, CUcontext *context, CUgreenCtx *green),
        (stream, context, green))
{
    return sc_permit_report_refused(call, real(stream, context, green));
}
