/* The limits of a context, as an H200 has them. That of the device's heap is fixed when a kernel
 * that uses the heap is launched, and that of printf alike (cuda.h). */
#include "api.h"
#include "capture.h"
#include "engine.h"

static const struct rule {
    size_t first, least, unit, most;
    bool is_set; /* a program may */
} rules[CU_LIMIT_MAX] = {
    [CU_LIMIT_STACK_SIZE] = {1024, 0, 16, 0x7ffff, true},
    [CU_LIMIT_PRINTF_FIFO_SIZE] = {8650752, 524288, 1, SIZE_MAX, true},
    [CU_LIMIT_MALLOC_HEAP_SIZE] = {8 << 20, 4 << 20, 65536, SIZE_MAX - 65536, true},
    [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = {2048, 32, 1, SIZE_MAX, true},
    [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = {64, 0, 1, 128, true},
    [CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = {11796480, 0, 3932160, 31457280, true},
    [CU_LIMIT_SHMEM_SIZE] = {232448, 0, 1, 0, false},
    [CU_LIMIT_CIG_ENABLED] = {0, 0, 1, 0, false},
};

void sim_limits_begin(CUcontext context)
{
    for (unsigned i = 0; i < CU_LIMIT_MAX; i++)
        context->limits[i] = rules[i].first;
}

static CUresult enter_locked(CUlimit limit, CUcontext *context)
{
    *context = sim_context_current();
    if (!sim_context_valid_locked(*context))
        return CUDA_ERROR_INVALID_CONTEXT;
    if ((unsigned)limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult state = sim_context_state(*context);
    bool has_one = rules[limit].unit > 0; /* devices from 9.0 on wait for no depth */
    return state != CUDA_SUCCESS || has_one ? state : CUDA_ERROR_UNSUPPORTED_LIMIT;
}

static bool is_fixed(const struct CUctx_st *context, CUlimit limit)
{
    return (limit == CU_LIMIT_MALLOC_HEAP_SIZE && context->heap_is_fixed) ||
           (limit == CU_LIMIT_PRINTF_FIFO_SIZE && context->printf_is_fixed);
}

static CUresult set_locked(CUcontext context, CUlimit limit, size_t value)
{
    const struct rule *rule = &rules[limit];
    if (!rule->is_set)
        return CUDA_ERROR_NOT_PERMITTED;
    if (value > rule->most || is_fixed(context, limit))
        return CUDA_ERROR_INVALID_VALUE;
    if (limit == CU_LIMIT_STACK_SIZE)
        sim_device_wait_locked(context->device, NULL);
    value = value > rule->least ? value : rule->least;
    context->limits[limit] = (value + rule->unit - 1) / rule->unit * rule->unit;
    return CUDA_SUCCESS;
}

/* Who hears of errors, of which only this call's are told. */
static _Atomic(CUlogsCallback) hears;
static void *_Atomic hears_with;

SIM_API(cuLogsRegisterCallback,
        (CUlogsCallback callbackFunc, void *userData, CUlogsCallbackHandle *callback), callbackFunc,
        userData, callback)
{
    if (!callbackFunc)
        return CUDA_ERROR_INVALID_VALUE;
    atomic_store(&hears_with, userData);
    atomic_store(&hears, callbackFunc);
    if (callback)
        *callback = (CUlogsCallbackHandle)(uintptr_t)&hears;
    return CUDA_SUCCESS;
}

static void log_error(CUresult result)
{
    CUlogsCallback to = atomic_load(&hears);
    char text[] = "Returning an error from cuCtxSetLimit";
    if (result != CUDA_SUCCESS && to)
        to(atomic_load(&hears_with), CU_LOG_LEVEL_ERROR, text, sizeof text - 1);
}

SIM_API(cuCtxSetLimit, (CUlimit limit, size_t value), limit, value)
{
    CUcontext context;
    if (sim_context_current())
        SIM_REFUSED_IN_A_CAPTURE();
    sim_lock();
    CUresult result = enter_locked(limit, &context);
    if (result == CUDA_SUCCESS)
        result = set_locked(context, limit, value);
    sim_unlock();
    log_error(result);
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
