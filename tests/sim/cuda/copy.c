/*
 * One-dimensional copies, and the rules for all of them.
 *
 * What a call does follows measurements (docs/driver.md, Where a copy's memory lies), not the
 * manual.
 */
#include "copy.h"

#include "api.h"
#include "capture.h"
#include "streams.h"

#include <stdlib.h>
#include <string.h>

#define STAGED_ASYNC ((size_t)1 << 20)
#define STAGED_BATCH ((size_t)64 << 10)
#define TAKEN_EARLY ((size_t)24 << 10)

enum plan {
    PLAN_LATE,    /* reads and writes when the stream gets there */
    PLAN_STAGE,   /* takes the source's bytes now */
    PLAN_TURN,    /* takes them when the stream gets there, and the call returns then */
    PLAN_WAIT,    /* the call returns when the copy is complete */
    PLAN_AT_ONCE, /* is complete in the call, which waits for nothing */
    PLAN_FAULT,   /* late, and by a thread that dies if the source is gone */
};

/* Where the driver takes a side to be. */
enum where {
    OF_DEVICE, /* managed memory, too, */
    OF_HOST,   /* registered or pinned, whatever the call names it */
    STAGED,    /* pageable; and managed memory that the call names as the host's */
};

static bool is_managed(const struct sim_range *range)
{
    return range->kind == MEMORY_MANAGED;
}

static enum where where_is(CUmemorytype type, const struct sim_range *range)
{
    bool is_pageable = range->kind == MEMORY_PAGEABLE;
    bool named_host = is_managed(range) && type == CU_MEMORYTYPE_HOST;
    if (is_pageable || named_host)
        return sim_options.pageable_access ? OF_HOST : STAGED;
    return sim_is_host(range) ? OF_HOST : OF_DEVICE;
}

/* Of a call in its stream, and of a node at its launch. */
static enum plan plan_ordered(enum where src, enum where dst, const struct sim_range *from,
                              size_t bytes)
{
    if (dst == STAGED || (dst == OF_HOST && src != OF_DEVICE))
        return PLAN_WAIT;
    if (src != STAGED)
        return PLAN_LATE;
    return is_managed(from) || bytes > STAGED_ASYNC ? PLAN_TURN : PLAN_STAGE;
}

/* Between device addresses it is the device's own business: no wait on the host. */
static enum plan plan_sync(enum where src, enum where dst, const struct sim_range *from,
                           const struct sim_range *to)
{
    if (!sim_is_waited_for(from) && !sim_is_waited_for(to))
        return PLAN_LATE;
    return src == STAGED && !is_managed(from) && dst == OF_DEVICE && !is_managed(to) ? PLAN_TURN
                                                                                     : PLAN_WAIT;
}

static enum plan plan_batch_stream(enum where src, enum where dst, const struct sim_range *to)
{
    if (src != STAGED)
        return PLAN_LATE;
    if (dst != OF_DEVICE || sim_options.late_batch)
        return PLAN_FAULT;
    return is_managed(to) ? PLAN_TURN : PLAN_WAIT;
}

static enum plan plan_batch_any(enum where src, enum where dst, const struct sim_range *to,
                                size_t bytes)
{
    bool is_staged = dst == OF_DEVICE && !is_managed(to) && bytes <= STAGED_BATCH;
    if (src != STAGED)
        return PLAN_LATE;
    return is_staged ? PLAN_STAGE : PLAN_FAULT;
}

/* Between host addresses the call copies by itself, in no order with its stream. To managed memory
 * the driver does not keep what the order promises. Of more than 64 KB between host addresses it
 * was not asked. */
static enum plan plan_batch_during(enum where src, enum where dst, const struct sim_range *to,
                                   size_t bytes)
{
    bool between_hosts = src != OF_DEVICE && dst != OF_DEVICE;
    if (between_hosts && (src == STAGED || dst == STAGED) && bytes <= STAGED_BATCH)
        return PLAN_AT_ONCE;
    return src == STAGED ? plan_batch_any(src, dst, to, bytes) : PLAN_WAIT;
}

static enum plan plan_copy(enum sim_manner manner, const struct sim_copy *c,
                           const struct sim_range *from, const struct sim_range *to)
{
    const size_t bytes = c->width * c->height * c->depth;
    const enum where src = where_is(c->src_type, from), dst = where_is(c->dst_type, to);
    switch (manner) {
    case MANNER_SYNC:
        return plan_sync(src, dst, from, to);
    case MANNER_BATCH_STREAM:
        return plan_batch_stream(src, dst, to);
    case MANNER_BATCH_DURING:
        return plan_batch_during(src, dst, to, bytes);
    case MANNER_BATCH_ANY:
        return plan_batch_any(src, dst, to, bytes);
    default:
        return plan_ordered(src, dst, from, bytes);
    }
}

static bool is_batch(enum sim_manner manner)
{
    return manner >= MANNER_BATCH_STREAM;
}

static bool fits(const struct sim_range *range, uintptr_t address, size_t extent)
{
    if (range->kind == MEMORY_PAGEABLE)
        return address != 0;
    return range->kind != MEMORY_INVALID && !range->inaccessible &&
           extent <= range->size - (address - range->base);
}

static uint64_t registration_at(uintptr_t address)
{
    struct sim_range range;
    sim_memory_find_locked(address, &range);
    return range.kind == MEMORY_REGISTERED ? range.id : 0;
}

static bool is_pageable_locked(uintptr_t address)
{
    struct sim_range range;
    sim_memory_find_locked(address, &range);
    return range.kind == MEMORY_PAGEABLE;
}

void sim_copy_keep_kinds_locked(struct sim_copy *copy)
{
    copy->src_pageable = is_pageable_locked(copy->src);
    copy->dst_pageable = is_pageable_locked(copy->dst);
    copy->src_registration = registration_at(copy->src);
    copy->dst_registration = registration_at(copy->dst);
}

static bool has_lost_registration(const struct sim_copy *copy)
{
    return (copy->src_registration && registration_at(copy->src) != copy->src_registration) ||
           (copy->dst_registration && registration_at(copy->dst) != copy->dst_registration);
}

static void find_side_locked(uintptr_t address, bool was_pageable, struct sim_range *range)
{
    sim_memory_find_locked(address, range);
    if (was_pageable && range->kind == MEMORY_REGISTERED)
        *range = (struct sim_range){.kind = MEMORY_PAGEABLE};
}

/* `small`: a plain copy out of registered memory whose bytes the driver may take in the call. */
static CUresult bind_locked(struct sim_copy *c, enum sim_manner manner, enum plan *plan,
                            bool *small)
{
    struct sim_range src, dst;
    find_side_locked(c->src, c->src_pageable, &src);
    find_side_locked(c->dst, c->dst_pageable, &dst);
    if (!fits(&src, c->src, sim_extent(c, c->src_pitch, c->src_slice)) ||
        !fits(&dst, c->dst, sim_extent(c, c->dst_pitch, c->dst_slice)))
        return CUDA_ERROR_INVALID_VALUE;
    *plan = plan_copy(manner, c, &src, &dst);
    *small = src.kind != MEMORY_PAGEABLE && sim_is_host(&src) && !sim_is_waited_for(&dst) &&
             c->height == 1 && c->depth == 1 && c->width <= TAKEN_EARLY;
    c->src = sim_device_view(&src, c->src, &c->src_access);
    c->dst = sim_device_view(&dst, c->dst, &c->dst_access);
    c->src_mapped = src.mapped && *plan != PLAN_AT_ONCE; /* which runs under the lock */
    c->dst_mapped = dst.mapped && *plan != PLAN_AT_ONCE;
    if (*plan == PLAN_FAULT)
        c->src_access = ACCESS_RAW;
    if (is_batch(manner) && dst.kind == MEMORY_PAGEABLE && !sim_options.pageable_access)
        c->dst_access = ACCESS_RAW;
    return CUDA_SUCCESS;
}

/* Packs the source into memory of the operation's own. Reads the program's memory: no lock. */
static CUresult stage(struct sim_copy *c)
{
    char *staged = malloc(c->width * c->height * c->depth);
    if (!staged)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t z = 0; z < c->depth; z++) {
        for (size_t y = 0; y < c->height; y++) {
            memcpy(staged + (z * c->height + y) * c->width,
                   (const char *)c->src + z * c->src_slice + y * c->src_pitch, c->width);
        }
    }
    c->staged = staged;
    c->src = (uintptr_t)staged;
    c->src_access = ACCESS_DIRECT;
    c->src_pitch = c->width;
    c->src_slice = c->width * c->height;
    return CUDA_SUCCESS;
}

/* What stages its source once its turn has come returns then: before the bytes have landed. */
static CUresult wait_for_turn_locked(CUstream stream)
{
    struct sim_work mark = {.kind = WORK_MARK};
    uint64_t seq;
    CUresult result = sim_stream_work_locked(stream, &mark, &seq);
    if (result == CUDA_SUCCESS)
        sim_stream_wait_locked(stream, seq);
    return result;
}

/* How long such a copy still takes after its call has returned, in delays: on an H200 the end of a
 * synchronous one of 64 KB and more is not there yet when another stream reads it at once, that of
 * 16 KB is. */
static unsigned landing_delays(const struct sim_copy *copy)
{
    return copy->width * copy->height * copy->depth > 32 * 1024 ? 8 : 0;
}

/* Takes the source of a small copy, whatever protects its pages. The real driver's own loads fault
 * where the pages are protected, and whoever protected them lets them go; that would be a matter of
 * luck here, since it depends on how far the device has come. */
static CUresult take_early(struct sim_copy *c)
{
    char *taken = malloc(c->width);
    if (!taken)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (c->src_access == ACCESS_SAFE)
        sim_dma_read(taken, c->src, c->width);
    else
        memcpy(taken, (const void *)c->src, c->width);
    c->staged = taken;
    c->src = (uintptr_t)taken;
    c->src_access = ACCESS_DIRECT;
    return CUDA_SUCCESS;
}

/* The source of a copy with one of the plans, when it is time for that. */
static CUresult stage_unlocked(CUstream stream, struct sim_work *work, enum plan plan)
{
    CUresult result = CUDA_SUCCESS;
    sim_stream_ref_locked(stream);
    if (plan == PLAN_TURN)
        result = wait_for_turn_locked(stream);
    if (result == CUDA_SUCCESS) {
        sim_unlock();
        result = stage(&work->copy);
        sim_lock();
    }
    work->delays = plan == PLAN_TURN ? landing_delays(&work->copy) : 0;
    sim_stream_unref_locked(stream);
    return result;
}

static bool is_staged(enum plan plan)
{
    return plan == PLAN_STAGE || plan == PLAN_TURN || plan == PLAN_AT_ONCE;
}

/* What a launch takes at once it takes before any of its nodes runs: the lock stays. */
CUresult sim_copy_bind_node_locked(struct sim_work *work, CUstream stream, bool *waits)
{
    enum plan plan;
    bool small;
    if (has_lost_registration(&work->copy)) {
        *work = (struct sim_work){.kind = WORK_FAULT};
        return CUDA_SUCCESS;
    }
    CUresult result = bind_locked(&work->copy, MANNER_NODE, &plan, &small);
    if (result != CUDA_SUCCESS)
        return result;
    *waits = *waits || plan == PLAN_WAIT;
    if (plan == PLAN_TURN)
        return stage_unlocked(stream, work, plan);
    return plan == PLAN_STAGE ? stage(&work->copy) : CUDA_SUCCESS;
}

/* They are taken where nothing is queued in the stream, although that may have to wait: for the
 * legacy stream or for blocking ones, or with its context (docs/driver.md, Sources taken early). A
 * synchronous copy waits for those streams first. */
static bool takes_early_locked(CUstream stream, enum sim_manner manner)
{
    return !sim_stream_has_queue_locked(stream) &&
           (manner != MANNER_SYNC || sim_stream_idle_locked(stream));
}

static CUresult issue_locked(CUstream stream, const struct sim_copy *copy, enum sim_manner manner)
{
    struct sim_work work = {.kind = WORK_COPY, .copy = *copy};
    enum plan plan;
    bool small;
    uint64_t seq;
    CUresult result = bind_locked(&work.copy, manner, &plan, &small);
    if (result == CUDA_SUCCESS && small && takes_early_locked(stream, manner)) {
        result = take_early(&work.copy);
    } else if (result == CUDA_SUCCESS && is_staged(plan)) {
        result = stage_unlocked(stream, &work, plan);
    }
    if (result != CUDA_SUCCESS)
        return result;
    if (plan == PLAN_AT_ONCE) {
        sim_work_run(&work);
        return CUDA_SUCCESS;
    }
    result = sim_stream_work_locked(stream, &work, &seq);
    if (result == CUDA_SUCCESS && plan == PLAN_WAIT)
        sim_stream_wait_locked(stream, seq);
    return result;
}

static CUresult capture_locked(CUstream stream, const struct sim_copy *copy, enum sim_manner manner)
{
    struct sim_work work = {.kind = WORK_COPY, .copy = *copy};
    if (manner == MANNER_SYNC)
        return sim_capture_wait_locked(stream);
    if (manner != MANNER_ASYNC && sim_options.driver < SIM_TAKES_BATCHES)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; /* and the capture goes on without it */
    return sim_capture_add_locked(stream, CU_GRAPH_NODE_TYPE_MEMCPY, &work, NULL);
}

/* Within one context it does not wait for non-blocking streams, as measured on an H200. */
static CUresult issue_serialized_locked(CUstream stream, const struct sim_copy *copy, CUcontext dst,
                                        CUcontext src)
{
    const CUcontext contexts[] = {stream->context, dst, src};
    CUresult result = CUDA_SUCCESS;
    const unsigned count = dst == src ? 0 : 3;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = sim_context_precedes_locked(contexts[i], stream);
    if (result == CUDA_SUCCESS)
        result = issue_locked(stream, copy, MANNER_SYNC);
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = sim_context_follows_locked(contexts[i], stream);
    return result;
}

CUresult sim_copy_submit_serialized(CUstream dflt, const struct sim_copy *copy, CUcontext dst,
                                    CUcontext src)
{
    CUstream stream;
    sim_lock();
    CUresult result = sim_stream_enter_locked(NULL, dflt, &stream);
    if (result == CUDA_SUCCESS && !sim_copy_empty(copy))
        result = stream->capture ? capture_locked(stream, copy, MANNER_SYNC)
                                 : issue_serialized_locked(stream, copy, dst, src);
    sim_unlock();
    return result;
}

/* Between two devices it is work of both their legacy streams, as measured on two H200. */
static CUresult issue_between_locked(CUstream stream, const struct sim_copy *copy)
{
    struct sim_range sides[2];
    sim_memory_find_locked(copy->dst, &sides[0]);
    sim_memory_find_locked(copy->src, &sides[1]);
    bool are_apart = sides[0].kind == MEMORY_DEVICE && sides[1].kind == MEMORY_DEVICE &&
                     sides[0].device != sides[1].device;
    CUresult result = CUDA_SUCCESS;
    for (unsigned turn = 0; turn < 2 && result == CUDA_SUCCESS; turn++) {
        for (unsigned i = 0; i < 2 && are_apart && result == CUDA_SUCCESS; i++)
            if (sides[i].context != stream->context)
                result = sim_context_meets_locked(sides[i].context, stream);
        if (turn == 0 && result == CUDA_SUCCESS)
            result = issue_locked(stream, copy, MANNER_SYNC);
    }
    return result;
}

CUresult sim_copy_submit(CUstream handle, CUstream dflt, const struct sim_copy *copy,
                         enum sim_manner manner)
{
    CUstream stream;
    sim_lock();
    CUresult result = sim_stream_enter_locked(handle, dflt, &stream);
    if (result == CUDA_SUCCESS && !sim_copy_empty(copy)) {
        result = stream->capture         ? capture_locked(stream, copy, manner)
                 : manner == MANNER_SYNC ? issue_between_locked(stream, copy)
                                         : issue_locked(stream, copy, manner);
    }
    sim_unlock();
    return result;
}

/* Copies between two addresses, synchronous and in a stream. */
static CUresult sync_copy(CUstream dflt, CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    struct sim_copy copy = sim_copy_flat(dst, src, bytes);
    return sim_copy_submit(NULL, dflt, &copy, MANNER_SYNC);
}

struct side {
    CUmemorytype type;
    CUdeviceptr at;
};

static struct side anywhere(CUdeviceptr at)
{
    return (struct side){CU_MEMORYTYPE_UNIFIED, at};
}

static struct side device(CUdeviceptr at)
{
    return (struct side){CU_MEMORYTYPE_DEVICE, at};
}

static struct side host(const void *at)
{
    return (struct side){CU_MEMORYTYPE_HOST, (CUdeviceptr)at};
}

static CUresult async_copy(CUstream dflt, struct side dst, struct side src, size_t bytes,
                           CUstream stream)
{
    struct sim_copy copy = sim_copy_flat(dst.at, src.at, bytes);
    copy.dst_type = dst.type;
    copy.src_type = src.type;
    return sim_copy_submit(stream, dflt, &copy, MANNER_ASYNC);
}

SIM_API_PTDS(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount), dst, src, ByteCount)
{
    return sync_copy(dflt, dst, src, ByteCount);
}

SIM_API_PTDS(cuMemcpyHtoD_v2, (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount),
             dstDevice, srcHost, ByteCount)
{
    return sync_copy(dflt, dstDevice, (CUdeviceptr)srcHost, ByteCount);
}

SIM_API_PTDS(cuMemcpyDtoH_v2, (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount), dstHost,
             srcDevice, ByteCount)
{
    return sync_copy(dflt, (CUdeviceptr)dstHost, srcDevice, ByteCount);
}

SIM_API_PTDS(cuMemcpyDtoD_v2, (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount),
             dstDevice, srcDevice, ByteCount)
{
    return sync_copy(dflt, dstDevice, srcDevice, ByteCount);
}

SIM_API_PTDS(cuMemcpyPeer,
             (CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
              CUcontext srcContext, size_t ByteCount),
             dstDevice, dstContext, srcDevice, srcContext, ByteCount)
{
    struct sim_copy copy = sim_copy_flat(dstDevice, srcDevice, ByteCount);
    return sim_copy_submit_serialized(dflt, &copy, dstContext, srcContext);
}

SIM_API_PTSZ(cuMemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream),
             dst, src, ByteCount, hStream)
{
    return async_copy(dflt, anywhere(dst), anywhere(src), ByteCount, hStream);
}

SIM_API_PTSZ(cuMemcpyHtoDAsync_v2,
             (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream),
             dstDevice, srcHost, ByteCount, hStream)
{
    return async_copy(dflt, device(dstDevice), host(srcHost), ByteCount, hStream);
}

SIM_API(cuMemcpyHtoDAsync_v9,
        (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream), dstDevice,
        srcHost, ByteCount, hStream)
{
    return async_copy(CU_STREAM_LEGACY, device(dstDevice), host(srcHost), ByteCount, hStream);
}

SIM_API_PTSZ(cuMemcpyDtoHAsync_v2,
             (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream), dstHost,
             srcDevice, ByteCount, hStream)
{
    return async_copy(dflt, host(dstHost), device(srcDevice), ByteCount, hStream);
}

SIM_API_PTSZ(cuMemcpyDtoDAsync_v2,
             (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
             dstDevice, srcDevice, ByteCount, hStream)
{
    return async_copy(dflt, device(dstDevice), device(srcDevice), ByteCount, hStream);
}

SIM_API_PTSZ(cuMemcpyPeerAsync,
             (CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
              CUcontext srcContext, size_t ByteCount, CUstream hStream),
             dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream)
{
    (void)dstContext, (void)srcContext;
    return async_copy(dflt, device(dstDevice), device(srcDevice), ByteCount, hStream);
}
