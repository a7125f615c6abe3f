/* Streams. */
#include "streams.h"

#include "announce.h"
#include "api.h"
#include "capture.h"
#include "memory.h"

CUresult sim_stream_legacy_locked(CUcontext context, CUstream *stream)
{
    if (!context->legacy) {
        CUstream s = sim_stream_new_locked(context, CU_STREAM_DEFAULT, 0);
        if (!s)
            return CUDA_ERROR_OUT_OF_MEMORY;
        s->legacy = true;
        s->blocking = false; /* it joins the blocking streams by a rule of its own */
        context->legacy = s;
    }
    *stream = context->legacy;
    return CUDA_SUCCESS;
}

static CUresult per_thread_locked(CUcontext context, CUstream *stream)
{
    for (CUstream s = sim_thread.default_streams; s; s = s->next_of_thread) {
        if (s->context == context) {
            *stream = s;
            return CUDA_SUCCESS;
        }
    }
    CUstream s = sim_stream_new_locked(context, CU_STREAM_DEFAULT, 0);
    if (!s)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_thread_register();
    s->per_thread = true;
    s->next_of_thread = sim_thread.default_streams;
    sim_thread.default_streams = s;
    *stream = s;
    return CUDA_SUCCESS;
}

CUresult sim_stream_resolve_locked(CUstream handle, CUstream dflt, CUstream *stream)
{
    handle = handle ? handle : dflt;
    if (sim_fault)
        return sim_fault;
    if (handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
        *stream = handle;
        return handle->magic == MAGIC_STREAM ? sim_context_state(handle->context)
                                             : CUDA_ERROR_INVALID_HANDLE;
    }
    CUcontext context = sim_context_current();
    if (!sim_context_valid_locked(context))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context->detached)
        return sim_context_state(context);
    if (context->green && handle == CU_STREAM_PER_THREAD)
        return CUDA_ERROR_INVALID_HANDLE;
    return handle == CU_STREAM_LEGACY ? sim_stream_legacy_locked(context, stream)
                                      : per_thread_locked(context, stream);
}

CUresult sim_stream_work_locked(CUstream stream, const struct sim_work *work, uint64_t *seq)
{
    struct sim_op *op = sim_op_new_locked();
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->work = *work;
    uint64_t place = sim_stream_issue_locked(stream, op);
    if (seq)
        *seq = place;
    return CUDA_SUCCESS;
}

static CUresult create_in(CUcontext context, CUstream *phStream, unsigned flags, int priority)
{
    if (!phStream || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_ERROR_INVALID_CONTEXT;
    sim_lock();
    if (sim_context_valid_locked(context)) {
        priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
        CUstream stream = sim_stream_new_locked(context, flags, priority);
        result = stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
        *phStream = stream;
        if (stream)
            sim_announce_stream_locked(SIM_STREAM_CREATED, stream);
    }
    sim_unlock();
    return result;
}

static CUresult create(CUstream *phStream, unsigned flags, int priority)
{
    return create_in(sim_context_current(), phStream, flags, priority);
}

SIM_API(cuGreenCtxStreamCreate,
        (CUstream * phStream, CUgreenCtx greenCtx, unsigned int flags, int priority), phStream,
        greenCtx, flags, priority)
{
    if (flags != CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    return create_in((CUcontext)(void *)greenCtx, phStream, flags, priority);
}

SIM_API(cuStreamCreate, (CUstream * phStream, unsigned int Flags), phStream, Flags)
{
    return create(phStream, Flags, 0);
}

SIM_API(cuStreamCreateWithPriority, (CUstream * phStream, unsigned int flags, int priority),
        phStream, flags, priority)
{
    return create(phStream, flags, priority);
}

/* The driver tells of the wait for a stream that has a name of its own, and of no other. */
static void announce_wait_locked(CUstream stream)
{
    if (!stream->legacy && !stream->per_thread)
        sim_announce_wait_locked(stream->context, stream);
}

/* Pending work completes; nobody waits for it here. */
static CUresult destroy(CUstream stream)
{
    CUresult result = CUDA_ERROR_INVALID_HANDLE;
    if (!stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
        return result;
    sim_lock();
    if (stream->magic == MAGIC_STREAM && sim_context_state(stream->context) != CUDA_SUCCESS) {
        result = sim_context_state(stream->context);
    } else if (stream->magic == MAGIC_STREAM && !stream->legacy && !stream->per_thread) {
        sim_announce_stream_locked(SIM_STREAM_ENDS, stream);
        sim_announce_now_locked();
        if (stream->capture)
            sim_capture_drop_stream_locked(stream);
        stream->magic = 0;
        sim_stream_unref_locked(stream);
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

SIM_API(cuStreamDestroy, (CUstream hStream), hStream)
{
    return destroy(hStream);
}

SIM_API(cuStreamDestroy_v2, (CUstream hStream), hStream)
{
    return destroy(hStream);
}

SIM_API_PTSZ(cuStreamSynchronize, (CUstream hStream), hStream)
{
    CUstream stream;
    sim_lock();
    CUresult result = sim_stream_resolve_locked(hStream, dflt, &stream);
    if (result == CUDA_SUCCESS)
        result = sim_capture_wait_locked(stream);
    if (result == CUDA_SUCCESS) {
        sim_stream_wait_all_locked(stream);
        sim_pools_synchronized_locked();
        result = sim_fault;
    }
    if (result == CUDA_SUCCESS)
        announce_wait_locked(stream);
    sim_unlock();
    return result;
}

SIM_API_PTSZ(cuStreamQuery, (CUstream hStream), hStream)
{
    CUstream stream;
    sim_lock();
    CUresult result = sim_stream_resolve_locked(hStream, dflt, &stream);
    if (result == CUDA_SUCCESS)
        result = sim_capture_wait_locked(stream);
    if (result == CUDA_SUCCESS && !sim_stream_idle_locked(stream))
        result = CUDA_ERROR_NOT_READY;
    if (result == CUDA_SUCCESS)
        announce_wait_locked(stream);
    sim_unlock();
    return result;
}

SIM_API_PTSZ(cuStreamWaitEvent, (CUstream hStream, CUevent hEvent, unsigned int Flags), hStream,
             hEvent, Flags)
{
    CUstream stream;
    if (Flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = sim_stream_enter_locked(hStream, dflt, &stream);
    if (result == CUDA_SUCCESS && Flags && !stream->capture)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && Flags)
        result = sim_capture_event_node_locked(stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT, hEvent);
    else if (result == CUDA_SUCCESS)
        result = sim_event_wait_locked(hEvent, stream);
    sim_unlock();
    return result;
}

/* Runs the body with `stream` as `find` resolves it, and the lock held. */
#define WITH_STREAM_BY(find, handle, body)                                                         \
    CUstream stream;                                                                               \
    sim_lock();                                                                                    \
    CUresult result = find(handle, dflt, &stream);                                                 \
    if (result == CUDA_SUCCESS) {                                                                  \
        body;                                                                                      \
    }                                                                                              \
    sim_unlock();                                                                                  \
    return result
#define WITH_STREAM(handle, body) WITH_STREAM_BY(sim_stream_resolve_locked, handle, body)

static CUresult resolve_to_ask_locked(CUstream handle, CUstream dflt, CUstream *stream)
{
    CUresult result = sim_stream_resolve_locked(handle, dflt, stream);
    return result ? result : sim_capture_ask_locked(*stream);
}

/* The same, but that a capturing stream itself may be asked. */
static CUresult resolve_legacy_to_ask_locked(CUstream handle, CUstream dflt, CUstream *stream)
{
    CUresult result = sim_stream_resolve_locked(handle, dflt, stream);
    return result || !(*stream)->legacy ? result : sim_capture_ask_locked(*stream);
}

SIM_API_PTSZ(cuStreamGetFlags, (CUstream hStream, unsigned int *flags), hStream, flags)
{
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    WITH_STREAM_BY(resolve_to_ask_locked, hStream, *flags = stream->flags);
}

SIM_API_PTSZ(cuStreamGetPriority, (CUstream hStream, int *priority), hStream, priority)
{
    if (!priority)
        return CUDA_ERROR_INVALID_VALUE;
    WITH_STREAM_BY(resolve_legacy_to_ask_locked, hStream, *priority = stream->priority);
}

SIM_API_PTSZ(cuStreamGetId, (CUstream hStream, unsigned long long *streamId), hStream, streamId)
{
    if (!streamId)
        return CUDA_ERROR_INVALID_VALUE;
    WITH_STREAM_BY(resolve_to_ask_locked, hStream, *streamId = stream->id);
}

SIM_API_PTSZ(cuStreamGetCtx, (CUstream hStream, CUcontext *pctx), hStream, pctx)
{
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    WITH_STREAM_BY(sim_stream_enter_locked, hStream, *pctx = stream->context);
}

static CUgreenCtx green_of(CUstream stream)
{
    return stream->context->green ? (CUgreenCtx)(void *)stream->context : NULL;
}

SIM_API_PTSZ(cuStreamGetCtx_v2, (CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx), hStream,
             pCtx, pGreenCtx)
{
    if (!pCtx)
        return CUDA_ERROR_INVALID_VALUE;
    WITH_STREAM_BY(sim_stream_enter_locked, hStream,
                   *pCtx = sim_context_home_locked(stream->context);
                   if (pGreenCtx) *pGreenCtx = green_of(stream););
}

SIM_API(cuStreamGetGreenCtx, (CUstream hStream, CUgreenCtx *phCtx), hStream, phCtx)
{
    CUstream dflt = CU_STREAM_LEGACY;
    if (!phCtx)
        return CUDA_ERROR_INVALID_VALUE;
    WITH_STREAM_BY(sim_stream_enter_locked, hStream, *phCtx = green_of(stream));
}

SIM_API_PTSZ(cuStreamGetDevice, (CUstream hStream, CUdevice *device), hStream, device)
{
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    WITH_STREAM(hStream, *device = stream->context->device);
}

static CUresult host_work(CUstream dflt, CUstream handle, const struct sim_host *host)
{
    CUstream stream;
    struct sim_work work = {.kind = WORK_HOST, .host = *host};
    sim_lock();
    CUresult result = sim_stream_enter_locked(handle, dflt, &stream);
    if (result == CUDA_SUCCESS) {
        if (stream->capture) {
            result = host->callback
                         ? sim_capture_ask_locked(stream)
                         : sim_capture_add_locked(stream, CU_GRAPH_NODE_TYPE_HOST, &work, NULL);
        } else {
            result = sim_stream_work_locked(stream, &work, NULL);
        }
    }
    sim_unlock();
    return result;
}

SIM_API_PTSZ(cuLaunchHostFunc, (CUstream hStream, CUhostFn fn, void *userData), hStream, fn,
             userData)
{
    struct sim_host host = {.fn = fn, .arg = userData};
    return fn ? host_work(dflt, hStream, &host) : CUDA_ERROR_INVALID_VALUE;
}

/* How the thread of the host functions waits is all the same to a program. */
SIM_API_PTSZ(cuLaunchHostFunc_v2,
             (CUstream hStream, CUhostFn fn, void *userData, unsigned int syncMode), hStream, fn,
             userData, syncMode)
{
    struct sim_host host = {.fn = fn, .arg = userData};
    return fn && syncMode <= 1 ? host_work(dflt, hStream, &host) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API_PTSZ(cuStreamAddCallback,
             (CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags),
             hStream, callback, userData, flags)
{
    struct sim_host host = {.callback = callback, .arg = userData, .handle = hStream};
    return callback && flags == 0 ? host_work(dflt, hStream, &host) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API_PTSZ(cuStreamAttachMemAsync,
             (CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags), hStream, dptr,
             length, flags)
{
    (void)length;
    if (!dptr || flags == 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_work mark = {.kind = WORK_MARK};
    WITH_STREAM(hStream, {
        result = sim_capture_wait_locked(stream);
        if (result == CUDA_SUCCESS)
            result = sim_stream_work_locked(stream, &mark, NULL);
    });
}

SIM_API_PTSZ(cuStreamCopyAttributes, (CUstream dst, CUstream src), dst, src)
{
    (void)dst;
    WITH_STREAM(src, );
}

SIM_API_PTSZ(cuStreamGetAttribute,
             (CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue *value_out), hStream, attr,
             value_out)
{
    if (!value_out)
        return CUDA_ERROR_INVALID_VALUE;
    (void)attr;
    *value_out = (CUstreamAttrValue){0};
    WITH_STREAM(hStream, );
}

SIM_API_PTSZ(cuStreamSetAttribute,
             (CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue *value), hStream, attr,
             value)
{
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    (void)attr;
    WITH_STREAM(hStream, );
}
