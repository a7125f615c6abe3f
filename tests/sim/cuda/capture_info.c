/* Asking about captures, and the calling thread's own mode. */
#include "api.h"
#include "capture.h"
#include "streams.h"

#include <stdlib.h>

static CUstreamCaptureStatus status_of(CUstream stream)
{
    if (!stream->capture)
        return CU_STREAM_CAPTURE_STATUS_NONE;
    return stream->capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                        : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

/* 906 for the legacy stream beside a capturing blocking one, which stays as it is. */
static CUresult look_locked(CUstream handle, CUstream dflt, CUstream *stream)
{
    CUresult result = sim_stream_resolve_locked(handle, dflt, stream);
    if (result != CUDA_SUCCESS || !(*stream)->legacy)
        return result;
    for (struct sim_capture *c = sim_captures; c; c = c->next) {
        for (CUstream s = c->streams; s; s = s->next_captured)
            if (s->blocking && s->context == (*stream)->context)
                return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    return CUDA_SUCCESS;
}

SIM_API_PTSZ(cuStreamIsCapturing, (CUstream hStream, CUstreamCaptureStatus *captureStatus), hStream,
             captureStatus)
{
    CUstream stream;
    if (!captureStatus)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = look_locked(hStream, dflt, &stream);
    if (result == CUDA_SUCCESS)
        *captureStatus = status_of(stream);
    sim_unlock();
    return result;
}

static CUresult info(CUstream dflt, CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id,
                     CUgraph *graph, const CUgraphNode **deps, size_t *count)
{
    CUstream stream;
    if (!status)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = look_locked(handle, dflt, &stream);
    if (result == CUDA_SUCCESS)
        *status = status_of(stream);
    if (result == CUDA_SUCCESS && *status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        if (id)
            *id = stream->capture->id;
        if (graph)
            *graph = stream->capture->graph;
        if (deps)
            *deps = stream->capture_deps;
        if (count)
            *count = stream->capture_dep_count;
    }
    sim_unlock();
    return result;
}

SIM_API_PTSZ(cuStreamGetCaptureInfo,
             (CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out),
             hStream, captureStatus_out, id_out)
{
    return info(dflt, hStream, captureStatus_out, id_out, NULL, NULL, NULL);
}

SIM_API_PTSZ(cuStreamGetCaptureInfo_v2,
             (CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
              CUgraph *graph_out, const CUgraphNode **dependencies_out,
              size_t *numDependencies_out),
             hStream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out)
{
    return info(dflt, hStream, captureStatus_out, id_out, graph_out, dependencies_out,
                numDependencies_out);
}

SIM_API_PTSZ(cuStreamGetCaptureInfo_v3,
             (CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
              CUgraph *graph_out, const CUgraphNode **dependencies_out,
              const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out),
             hStream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
             numDependencies_out)
{
    if (edgeData_out)
        *edgeData_out = NULL;
    return info(dflt, hStream, captureStatus_out, id_out, graph_out, dependencies_out,
                numDependencies_out);
}

static CUresult update(CUstream dflt, CUstream handle, const CUgraphNode *deps, size_t count,
                       unsigned flags)
{
    CUstream stream;
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (count && !deps))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = sim_stream_enter_locked(handle, dflt, &stream);
    if (result == CUDA_SUCCESS && !stream->capture)
        result = CUDA_ERROR_ILLEGAL_STATE;
    if (result == CUDA_SUCCESS) {
        result = sim_capture_set_deps_locked(stream, deps, count,
                                             flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
    }
    sim_unlock();
    return result;
}

SIM_API_PTSZ(cuStreamUpdateCaptureDependencies,
             (CUstream hStream, CUgraphNode *dependencies, size_t numDependencies,
              unsigned int flags),
             hStream, dependencies, numDependencies, flags)
{
    return update(dflt, hStream, dependencies, numDependencies, flags);
}

SIM_API_PTSZ(cuStreamUpdateCaptureDependencies_v2,
             (CUstream hStream, CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
              size_t numDependencies, unsigned int flags),
             hStream, dependencies, dependencyData, numDependencies, flags)
{
    (void)dependencyData;
    return update(dflt, hStream, dependencies, numDependencies, flags);
}

SIM_API(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode * mode), mode)
{
    if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode old = sim_thread.capture_mode;
    sim_thread.capture_mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}
