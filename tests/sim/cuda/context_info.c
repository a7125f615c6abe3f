/* What can be asked of a context, and waiting for all of it. */
#include "announce.h"
#include "api.h"
#include "capture.h"
#include "engine.h"
#include "memory.h"

static CUresult named(CUcontext ctx, CUcontext *context)
{
    *context = ctx ? ctx : sim_context_current();
    sim_lock();
    CUresult result = sim_context_valid_locked(*context) ? sim_context_state(*context)
                                                         : CUDA_ERROR_INVALID_CONTEXT;
    sim_unlock();
    return result;
}

static CUresult get_device(CUdevice *device, CUcontext ctx)
{
    CUcontext context;
    CUresult result = device ? named(ctx, &context) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *device = context->device;
    return result;
}

SIM_API(cuCtxGetDevice, (CUdevice * device), device)
{
    return get_device(device, NULL);
}

SIM_API(cuCtxGetDevice_v2, (CUdevice * device, CUcontext ctx), device, ctx)
{
    return get_device(device, ctx);
}

static CUresult synchronize(CUcontext ctx)
{
    CUcontext context;
    CUresult result = named(ctx, &context);
    if (result == CUDA_SUCCESS) {
        sim_lock();
        result = sim_capture_whole_locked(context->device, context);
        if (result == CUDA_SUCCESS) {
            sim_device_wait_locked(context->device, context);
            sim_pools_synchronized_locked();
            result = sim_fault;
        }
        if (result == CUDA_SUCCESS)
            sim_announce_wait_locked(context, NULL);
        sim_unlock();
    }
    return result;
}

SIM_API_VOID(cuCtxSynchronize)
{
    return synchronize(NULL);
}

SIM_API(cuCtxSynchronize_v2, (CUcontext ctx), ctx)
{
    return synchronize(ctx);
}

SIM_API(cuCtxGetFlags, (unsigned int *flags), flags)
{
    CUcontext context;
    CUresult result = flags ? named(NULL, &context) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *flags = context->flags;
    return result;
}

SIM_API(cuCtxSetFlags, (unsigned int flags), flags)
{
    CUcontext context;
    CUresult result = named(NULL, &context);
    if (result == CUDA_SUCCESS)
        context->flags = flags;
    return result;
}

SIM_API(cuCtxGetId, (CUcontext ctx, unsigned long long *ctxId), ctx, ctxId)
{
    CUcontext context;
    CUresult result = ctxId ? named(ctx, &context) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *ctxId = context->id;
    return result;
}

SIM_API(cuCtxGetApiVersion, (CUcontext ctx, unsigned int *version), ctx, version)
{
    CUcontext context;
    CUresult result = version ? named(ctx, &context) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *version = 3020;
    return result;
}

SIM_API(cuCtxGetStreamPriorityRange, (int *leastPriority, int *greatestPriority), leastPriority,
        greatestPriority)
{
    CUcontext context;
    CUresult result = named(NULL, &context);
    if (result == CUDA_SUCCESS) {
        if (leastPriority)
            *leastPriority = 0;
        if (greatestPriority)
            *greatestPriority = -5;
    }
    return result;
}

SIM_API(cuCtxGetCacheConfig, (CUfunc_cache * pconfig), pconfig)
{
    CUcontext context;
    CUresult result = pconfig ? named(NULL, &context) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *pconfig = CU_FUNC_CACHE_PREFER_NONE;
    return result;
}

SIM_API(cuCtxSetCacheConfig, (CUfunc_cache config), config)
{
    CUcontext context;
    (void)config;
    SIM_REFUSED_IN_A_CAPTURE();
    return named(NULL, &context);
}

SIM_API(cuCtxEnablePeerAccess, (CUcontext peerContext, unsigned int Flags), peerContext, Flags)
{
    CUcontext context;
    return Flags || !peerContext ? CUDA_ERROR_INVALID_VALUE : named(peerContext, &context);
}

SIM_API(cuCtxDisablePeerAccess, (CUcontext peerContext), peerContext)
{
    CUcontext context;
    return peerContext ? named(peerContext, &context) : CUDA_ERROR_INVALID_VALUE;
}
