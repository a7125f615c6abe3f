/* Wrappers of what programs ask the driver about a stream (flags, priority, context). The driver
 * refuses a question about a stream that captures, or about the legacy stream while a blocking
 * stream captures, and the capture is invalid then (docs/driver.md, Q21 and Q27). For the legacy
 * stream the library answers by itself, except for the stream's id, which it does not know. */

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

/* Returns the context of the legacy stream that the program has asked about: the current one. */
static CUcontext current_context(void)
{
    CUcontext context = NULL;
    sc_real.cuCtxGetCurrent(&context);
    return context;
}

/* Begins a question about the stream. Returns true if the wrapper has to answer in the driver's
 * place: the question is about the legacy stream, and would break a capture of a blocking stream.
 * Also initialises `detour`, which sc_detour_end needs in any case. With `answer` NULL the driver
 * is asked, which refuses the argument. */
static bool begin_answer(struct sc_detour *detour, const struct sc_call *call, CUstream stream,
                         const void *answer)
{
    sc_detour_init(detour, call);
    return answer && sc_detour_begin_query(detour, call, stream, NULL);
}

/* Ends a question that the driver has answered or refused. A refusal because the stream itself
 * captures is reported here (SC302, SC303); one because of the legacy stream by sc_detour_end. */
static CUresult end_question(struct sc_detour *detour, CUresult result)
{
    if (sc_detour_leave_report_to_caller(detour))
        sc_permit_report_refused(detour->call, result);
    return sc_detour_end(detour, result);
}

/* Makes the wrappers of a question. `known`: what the library answers for the legacy stream while
 * the driver cannot be asked. */
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
