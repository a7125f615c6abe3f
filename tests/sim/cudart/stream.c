/* Streams and events, as far as stream 0 has no part in it. */
#include "runtime.h"

cudaError_t cudaStreamCreate(cudaStream_t *pStream)
{
    ENTER(cudaStreamCreate_v3020, pStream);
    LEAVE(CALL(cuStreamCreate, pStream, CU_STREAM_DEFAULT));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags)
{
    ENTER(cudaStreamCreateWithFlags_v5000, pStream, flags);
    LEAVE(CALL(cuStreamCreate, pStream, flags));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority)
{
    ENTER(cudaStreamCreateWithPriority_v5050, pStream, flags, priority);
    LEAVE(CALL(cuStreamCreateWithPriority, pStream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    ENTER(cudaStreamDestroy_v5050, stream);
    LEAVE(CALL(cuStreamDestroy, stream));
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    ENTER(cudaThreadExchangeStreamCaptureMode_v10010, mode);
    LEAVE(CALL(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *)(void *)mode));
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    ENTER(cudaEventCreate_v3020, event);
    LEAVE(CALL(cuEventCreate, event, CU_EVENT_DEFAULT));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    ENTER(cudaEventCreateWithFlags_v3020, event, flags);
    LEAVE(CALL(cuEventCreate, event, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    ENTER(cudaEventDestroy_v3020, event);
    LEAVE(CALL(cuEventDestroy, event));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    ENTER(cudaEventQuery_v3020, event);
    LEAVE(CALL(cuEventQuery, event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    ENTER(cudaEventSynchronize_v3020, event);
    LEAVE(CALL(cuEventSynchronize, event));
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    ENTER(cudaEventElapsedTime_v12080, ms, start, end);
    LEAVE(CALL(cuEventElapsedTime, ms, start, end));
}
