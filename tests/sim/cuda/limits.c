/* The limits of a context. That of the device's heap, and that of printf, are fixed when a kernel
 * that uses them is launched (cuda.h). */
#include "api.h"

void sim_limits_begin(CUcontext context)
{
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
}

/* Devices from 9.0 on have no such limit. */
static bool is_supported(CUlimit limit)
{
    return (unsigned)limit < CU_LIMIT_MAX && limit != CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH;
}

static bool is_fixed(const struct CUctx_st *context, CUlimit limit)
{
    return (limit == CU_LIMIT_MALLOC_HEAP_SIZE && context->heap_is_fixed) ||
           (limit == CU_LIMIT_PRINTF_FIFO_SIZE && context->printf_is_fixed);
}

static CUresult enter_locked(CUlimit limit, CUcontext *context)
{
    *context = sim_context_current();
    if (!sim_context_valid_locked(*context))
        return CUDA_ERROR_INVALID_CONTEXT;
    CUresult state = sim_context_state(*context);
    return state != CUDA_SUCCESS || is_supported(limit) ? state : CUDA_ERROR_UNSUPPORTED_LIMIT;
}

SIM_API(cuCtxSetLimit, (CUlimit limit, size_t value), limit, value)
{
    CUcontext context;
    sim_lock();
    CUresult result = enter_locked(limit, &context);
    if (result == CUDA_SUCCESS && is_fixed(context, limit))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        context->limits[limit] = value;
    sim_unlock();
    return result;
}

SIM_API(cuCtxGetLimit, (size_t * pvalue, CUlimit limit), pvalue, limit)
{
    CUcontext context;
    if (!pvalue)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = enter_locked(limit, &context);
    if (result == CUDA_SUCCESS)
        *pvalue = context->limits[limit];
    sim_unlock();
    return result;
}
