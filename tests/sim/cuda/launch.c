/* Kernel launches. */
#include "api.h"
#include "capture.h"
#include "kernel.h"
#include "streams.h"

static CUresult launch(CUstream dflt, CUstream handle, const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct sim_work work = {.kind = WORK_KERNEL};
    CUstream stream;
    CUgraphNode node;
    if (params->gridDimX == 0 || params->gridDimY == 0 || params->gridDimZ == 0 ||
        params->blockDimX == 0 || params->blockDimY == 0 || params->blockDimZ == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result =
        sim_kernel_time(params->func, params->kernelParams, params->extra, &work.kernel_ns);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (sim_kernel_faults(params->func)) {
        work.kind = WORK_FAULT;
    }
    sim_lock();
    result = sim_stream_enter_locked(handle, dflt, &stream);
    if (result == CUDA_SUCCESS && stream->capture) {
        result = sim_capture_add_locked(stream, CU_GRAPH_NODE_TYPE_KERNEL, &work, &node);
        if (result == CUDA_SUCCESS) {
            node->params.kernel = *params;
        }
    } else if (result == CUDA_SUCCESS) {
        result = sim_stream_work_locked(stream, &work, NULL);
    }
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
    return launch(dflt, hStream, &params);
}

SIM_API_PTSZ(cuLaunchKernelEx,
             (const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra),
             config, f, kernelParams, extra)
{
    if (!config) {
        return CUDA_ERROR_INVALID_VALUE;
    }
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
    return launch(dflt, config->hStream, &params);
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
    return launch(dflt, hStream, &params);
}
