/* Contexts: the current one of each thread, primary ones of each device. */
#include "announce.h"
#include "api.h"
#include "capture.h"
#include "engine.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

CUcontext sim_contexts;

static struct sim_slab contexts = {sizeof(struct CUctx_st), NULL};
static unsigned primary_flags[SIM_MAX_DEVICES];

static bool valid_device(CUdevice device)
{
    return device >= 0 && device < sim_options.devices;
}

CUcontext sim_context_current(void)
{
    return sim_thread.depth ? sim_thread.stack[sim_thread.depth - 1] : NULL;
}

_Atomic(CUresult) sim_fault;

bool sim_context_valid_locked(CUcontext context)
{
    return context && context->magic == MAGIC_CONTEXT;
}

CUcontext sim_context_primary_locked(CUdevice device)
{
    for (CUcontext c = sim_contexts; c; c = c->next)
        if (c->primary && c->device == device)
            return c;
    return NULL;
}

CUcontext sim_context_home_locked(CUcontext context)
{
    return context->green ? sim_context_primary_locked(context->device) : context;
}

CUresult sim_context_state(CUcontext context)
{
    return context->detached ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

void sim_context_use_locked(CUcontext context, const char *call)
{
    if (context && (context->ending || context->detached)) {
        fprintf(stderr, "simulated GPU: %s in a context that is destroyed; drivers die of it\n",
                call);
        abort();
    }
}

static CUcontext new_locked(CUdevice device, unsigned flags, bool primary)
{
    static unsigned long long ids;
    CUcontext c = sim_engine_start_locked() ? sim_slab_take_locked(&contexts) : NULL;
    if (c) {
        c->magic = MAGIC_CONTEXT;
        c->device = device;
        c->flags = flags;
        c->primary = primary;
        c->id = ++ids;
        sim_limits_begin(c);
        c->next = sim_contexts;
        sim_contexts = c;
        sim_budget_own_locked(device, SIM_CONTEXT_BYTES, false);
        sim_announce_context_locked(SIM_CONTEXT_CREATED, c);
    }
    return c;
}

/* What a program could name is told; the lock is dropped meanwhile. */
static void announce_end_locked(CUcontext context)
{
    sim_announce_context_locked(SIM_CONTEXT_ENDS, context);
    for (CUstream s = context->streams; s; s = s->next)
        if (s->magic == MAGIC_STREAM && !s->legacy && !s->per_thread)
            sim_announce_stream_locked(SIM_STREAM_ENDS, s);
    sim_announce_now_locked();
}

/* Completes the context's work first; its streams live on without it while events name them. */
static void end_locked(CUcontext context)
{
    context->ending = true;
    sim_device_wait_locked(context->device, context);
    announce_end_locked(context);
    context->magic = 0;
    sim_budget_own_locked(context->device, SIM_CONTEXT_BYTES, true);
    if (context->heap_is_fixed)
        sim_budget_own_locked(context->device, context->limits[CU_LIMIT_MALLOC_HEAP_SIZE], true);
    if (context->gate) {
        sim_stream_unref_locked(context->gate);
        context->gate = NULL;
    }
    if (context->serialized.stream)
        sim_stream_unref_locked(context->serialized.stream);
    context->serialized.stream = NULL;
    for (CUstream s = context->streams, next; s; s = next) {
        next = s->next;
        if (s->capture)
            sim_capture_drop_stream_locked(s);
        s->next = s->prev = NULL;
        s->context = NULL;
        bool handle = s->magic == MAGIC_STREAM && !s->per_thread;
        s->magic = 0;
        if (handle)
            sim_stream_unref_locked(s);
    }
    context->streams = context->legacy = NULL;
    sim_registry_drop_context_locked(context);
    sim_memory_drop_context_locked(context);
    for (CUcontext *at = &sim_contexts; *at; at = &(*at)->next) {
        if (*at == context) {
            *at = context->next;
            break;
        }
    }
    sim_slab_give_locked(&contexts, context);
}

static CUresult push(CUcontext context)
{
    sim_thread_register();
    if (sim_thread.depth == sim_thread.capacity) {
        unsigned capacity = sim_thread.capacity ? 2 * sim_thread.capacity : 8;
        CUcontext *stack = realloc(sim_thread.stack, capacity * sizeof *stack);
        if (!stack)
            return CUDA_ERROR_OUT_OF_MEMORY;
        sim_thread.stack = stack;
        sim_thread.capacity = capacity;
    }
    sim_thread.stack[sim_thread.depth++] = context;
    return CUDA_SUCCESS;
}

static CUresult create(CUcontext *pctx, unsigned flags, CUdevice device)
{
    if (!pctx || (flags & ~(unsigned)CU_CTX_FLAGS_MASK))
        return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    sim_lock();
    CUcontext context = new_locked(device, flags, false);
    sim_unlock();
    if (!context)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *pctx = context;
    return push(context);
}

SIM_API(cuCtxCreate_v2, (CUcontext * pctx, unsigned int flags, CUdevice dev), pctx, flags, dev)
{
    return create(pctx, flags, dev);
}

SIM_API(cuCtxCreate_v3,
        (CUcontext * pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags,
         CUdevice dev),
        pctx, paramsArray, numParams, flags, dev)
{
    (void)paramsArray;
    return numParams == 0 ? create(pctx, flags, dev) : CUDA_ERROR_NOT_SUPPORTED;
}

SIM_API(cuCtxCreate_v4,
        (CUcontext * pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev),
        pctx, ctxCreateParams, flags, dev)
{
    if (ctxCreateParams && (ctxCreateParams->numExecAffinityParams || ctxCreateParams->cigParams))
        return CUDA_ERROR_NOT_SUPPORTED;
    return create(pctx, flags, dev);
}

SIM_API(cuCtxDestroy_v2, (CUcontext ctx), ctx)
{
    CUresult result = CUDA_SUCCESS;
    sim_lock();
    if (!sim_context_valid_locked(ctx) || ctx->primary)
        result = CUDA_ERROR_INVALID_CONTEXT;
    else
        end_locked(ctx);
    sim_unlock();
    if (result == CUDA_SUCCESS && sim_context_current() == ctx)
        sim_thread.depth--;
    return result;
}

static CUcontext retain_locked(CUdevice device)
{
    CUcontext context = sim_context_primary_locked(device);
    if (!context)
        context = new_locked(device, primary_flags[device], true);
    if (context)
        context->retained++;
    return context;
}

/* ---- green contexts: their work goes on when they have ended, and they are of no other use ----
 */

SIM_API(cuDeviceGetDevResource, (CUdevice device, CUdevResource *resource, CUdevResourceType type),
        device, resource, type)
{
    if (!resource || type != CU_DEV_RESOURCE_TYPE_SM || !valid_device(device))
        return CUDA_ERROR_INVALID_VALUE;
    *resource = (CUdevResource){.type = type, .sm.smCount = 132};
    return CUDA_SUCCESS;
}

SIM_API(cuDevSmResourceSplitByCount,
        (CUdevResource * result, unsigned int *nbGroups, const CUdevResource *input,
         CUdevResource *remainder, unsigned int flags, unsigned int minCount),
        result, nbGroups, input, remainder, flags, minCount)
{
    (void)flags;
    if (!result || !nbGroups || *nbGroups != 1 || !input || remainder || !minCount)
        return CUDA_ERROR_NOT_SUPPORTED;
    *result = *input;
    result->sm.smCount = minCount;
    return CUDA_SUCCESS;
}

SIM_API(cuDevResourceGenerateDesc,
        (CUdevResourceDesc * phDesc, CUdevResource *resources, unsigned int nbResources), phDesc,
        resources, nbResources)
{
    static int any;
    if (!phDesc || !resources || nbResources == 0)
        return CUDA_ERROR_INVALID_VALUE;
    *phDesc = (CUdevResourceDesc)(void *)&any;
    return CUDA_SUCCESS;
}

SIM_API(cuGreenCtxCreate,
        (CUgreenCtx * phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags), phCtx, desc,
        dev, flags)
{
    if (!phCtx || !desc || !valid_device(dev) || !(flags & CU_GREEN_CTX_DEFAULT_STREAM))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUcontext primary = retain_locked(dev);
    CUcontext context = primary ? new_locked(dev, 0, false) : NULL;
    if (context)
        context->green = true;
    sim_unlock();
    *phCtx = (CUgreenCtx)(void *)context;
    return context ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_API(cuCtxFromGreenCtx, (CUcontext * pContext, CUgreenCtx hCtx), pContext, hCtx)
{
    if (!pContext || !hCtx)
        return CUDA_ERROR_INVALID_VALUE;
    *pContext = (CUcontext)(void *)hCtx;
    return CUDA_SUCCESS;
}

SIM_API(cuGreenCtxDestroy, (CUgreenCtx hCtx), hCtx)
{
    CUcontext context = (CUcontext)(void *)hCtx;
    sim_lock();
    bool valid = sim_context_valid_locked(context) && context->green && !context->detached;
    if (valid) {
        sim_announce_context_locked(SIM_CONTEXT_ENDS, context);
        sim_announce_now_locked();
        context->detached = true;
        CUcontext primary = sim_context_primary_locked(context->device);
        if (primary && --primary->retained == 0)
            end_locked(primary);
    }
    sim_unlock();
    return valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult check(CUcontext context)
{
    sim_lock();
    bool valid = sim_context_valid_locked(context);
    sim_unlock();
    return valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

SIM_API(cuCtxPushCurrent_v2, (CUcontext ctx), ctx)
{
    CUresult result = check(ctx);
    if (result == CUDA_SUCCESS)
        sim_context_use_locked(ctx, "cuCtxPushCurrent");
    return result ? result : push(ctx);
}

SIM_API(cuCtxPopCurrent_v2, (CUcontext * pctx), pctx)
{
    CUcontext current = sim_context_current();
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    sim_thread.depth--;
    if (pctx)
        *pctx = current;
    return CUDA_SUCCESS;
}

SIM_API(cuCtxSetCurrent, (CUcontext ctx), ctx)
{
    if (!ctx) {
        sim_thread.depth -= sim_thread.depth > 0;
        return CUDA_SUCCESS;
    }
    if (ctx == sim_context_current())
        return CUDA_SUCCESS;
    CUresult result = check(ctx);
    if (result == CUDA_SUCCESS && sim_thread.depth > 0) {
        sim_thread.stack[sim_thread.depth - 1] = ctx;
        return CUDA_SUCCESS;
    }
    return result ? result : push(ctx);
}

SIM_API(cuCtxGetCurrent, (CUcontext * pctx), pctx)
{
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    *pctx = sim_context_current();
    return CUDA_SUCCESS;
}

SIM_API(cuDevicePrimaryCtxRetain, (CUcontext * pctx, CUdevice dev), pctx, dev)
{
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    sim_last_ns(sim_options.retain_ns);
    sim_lock();
    CUcontext context = retain_locked(dev);
    sim_unlock();
    *pctx = context;
    return context ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static bool has_green_one_locked(CUdevice dev)
{
    CUcontext c = sim_contexts;
    while (c && !(c->green && !c->detached && c->device == dev))
        c = c->next;
    return c != NULL;
}

/* At once: a reset, which a green context forbids; a release leaves it what holds the primary one.
 */
static CUresult release(CUdevice dev, bool at_once)
{
    CUresult result = CUDA_SUCCESS;
    if (!valid_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    sim_lock();
    CUcontext context = sim_context_primary_locked(dev);
    if (!context)
        result = at_once ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    else if (at_once && has_green_one_locked(dev))
        result = CUDA_ERROR_NOT_PERMITTED;
    else if (at_once || --context->retained == 0)
        end_locked(context);
    sim_unlock();
    return result;
}

SIM_API(cuDevicePrimaryCtxRelease, (CUdevice dev), dev)
{
    return release(dev, false);
}

SIM_API(cuDevicePrimaryCtxRelease_v2, (CUdevice dev), dev)
{
    return release(dev, false);
}

SIM_API(cuDevicePrimaryCtxReset, (CUdevice dev), dev)
{
    return release(dev, true);
}

SIM_API(cuDevicePrimaryCtxReset_v2, (CUdevice dev), dev)
{
    return release(dev, true);
}

static CUresult set_flags(CUdevice dev, unsigned flags)
{
    if (!valid_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    sim_lock();
    CUcontext context = sim_context_primary_locked(dev);
    primary_flags[dev] = flags;
    if (context)
        context->flags = flags;
    sim_unlock();
    return CUDA_SUCCESS;
}

SIM_API(cuDevicePrimaryCtxSetFlags, (CUdevice dev, unsigned int flags), dev, flags)
{
    return set_flags(dev, flags);
}

SIM_API(cuDevicePrimaryCtxSetFlags_v2, (CUdevice dev, unsigned int flags), dev, flags)
{
    return set_flags(dev, flags);
}

SIM_API(cuDevicePrimaryCtxGetState, (CUdevice dev, unsigned int *flags, int *active), dev, flags,
        active)
{
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    sim_lock();
    *flags = primary_flags[dev];
    *active = sim_context_primary_locked(dev) != NULL;
    sim_unlock();
    return CUDA_SUCCESS;
}
