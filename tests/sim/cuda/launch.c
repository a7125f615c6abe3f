/* Kernel launches. */
#include "api.h"
#include "capture.h"
#include "copy.h"
#include "kernel.h"
#include "streams.h"

CUresult sim_kernel_bind_locked(struct sim_work *work, CUstream stream, bool *waits)
{
    CUresult result = CUDA_SUCCESS;
    if (work->kind == WORK_KERNEL_COPY && !sim_copy_empty(&work->copy)) {
        result = sim_copy_bind_node_locked(work, stream, waits);
    } else if (work->kind == WORK_KERNEL_SERVE) {
        result = sim_value_bind_locked(&work->serve.bell);
        result = result ? result : sim_value_bind_locked(&work->serve.answer);
    }
    return result;
}

/* A kernel works on the device's memory, by the device's addresses. */
static CUresult issue_locked(CUstream stream, struct sim_work *work)
{
    bool waits = false;
    CUresult result = sim_kernel_bind_locked(work, stream, &waits);
    return result ? result : sim_stream_work_locked(stream, work, NULL);
}

/* The events that a launch records are those of its completion here, which the driver may make of
 * them, too. */
static CUresult record_events_locked(CUstream stream, const CUlaunchConfig *config)
{
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; config && i < config->numAttrs && result == CUDA_SUCCESS; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
            result = sim_event_record_locked(attribute->value.programmaticEvent.event, stream);
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            result = sim_event_record_locked(attribute->value.launchCompletionEvent.event, stream);
    }
    return result;
}

/* `config`: NULL if the launch has no attributes. */
static CUresult launch(CUstream dflt, CUstream handle, const CUDA_KERNEL_NODE_PARAMS *params,
                       const CUlaunchConfig *config)
{
    struct sim_work work = {0};
    CUstream stream;
    CUgraphNode node;
    if (params->gridDimX == 0 || params->gridDimY == 0 || params->gridDimZ == 0 ||
        params->blockDimX == 0 || params->blockDimY == 0 || params->blockDimZ == 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_kernel_work(params->func, params->kernelParams, params->extra, &work);
    if (result != CUDA_SUCCESS)
        return result;
    sim_lock();
    result = sim_stream_enter_locked(handle, dflt, &stream);
    if (result == CUDA_SUCCESS && stream->capture) {
        result = sim_capture_add_locked(stream, CU_GRAPH_NODE_TYPE_KERNEL, &work, &node);
        if (result == CUDA_SUCCESS) {
            node->params.kernel = *params;
            sim_node_keep_values_locked(node);
        }
    } else if (result == CUDA_SUCCESS) {
        result = issue_locked(stream, &work);
        sim_kernel_fixes_limits_locked(params->func, stream->context);
    }
    if (result == CUDA_SUCCESS)
        result = record_events_locked(stream, config);
    sim_unlock();
    return result;
}

SIM_API_PTSZ(cuLaunchKernel,
             (CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
              unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
              unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra),
             f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
             hStream, kernelParams, extra)
{
    CUDA_KERNEL_NODE_PARAMS params = {
        f,         gridDimX,       gridDimY,     gridDimZ, blockDimX, blockDimY,
        blockDimZ, sharedMemBytes, kernelParams, extra,    NULL,      NULL,
    };
    return launch(dflt, hStream, &params, NULL);
}

SIM_API_PTSZ(cuLaunchKernelEx,
             (const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra),
             config, f, kernelParams, extra)
{
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS params = {
        f,
        config->gridDimX,
        config->gridDimY,
        config->gridDimZ,
        config->blockDimX,
        config->blockDimY,
        config->blockDimZ,
        config->sharedMemBytes,
        kernelParams,
        extra,
        NULL,
        NULL,
    };
    return launch(dflt, config->hStream, &params, config);
}

SIM_API_PTSZ(cuLaunchCooperativeKernel,
             (CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
              unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
              unsigned int sharedMemBytes, CUstream hStream, void **kernelParams),
             f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
             hStream, kernelParams)
{
    CUDA_KERNEL_NODE_PARAMS params = {
        f,         gridDimX,       gridDimY,     gridDimZ, blockDimX, blockDimY,
        blockDimZ, sharedMemBytes, kernelParams, NULL,     NULL,      NULL,
    };
    return launch(dflt, hStream, &params, NULL);
}
