/*
 * One-dimensional copies, and the rules for all of them.
 *
 * What a call does with pageable memory follows measurements (docs/driver.md), not the
 * manual: sources up to 1 MB are staged within the call, larger ones make it wait, destinations
 * always do, and batch copies keep rules of their own.
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
    PLAN_LATE,  /* reads and writes when the stream gets there */
    PLAN_STAGE, /* takes the source's bytes now */
    PLAN_WAIT,  /* the call returns when the copy is complete */
    PLAN_FAULT, /* late, and by a thread that dies if the source is gone */
};

static enum plan plan_batch(enum sim_manner manner, bool pageable_source, size_t bytes)
{
    if (manner == MANNER_BATCH_STREAM)
        return !pageable_source ? PLAN_LATE : sim_options.late_batch ? PLAN_FAULT : PLAN_WAIT;
    if (pageable_source)
        return bytes <= STAGED_BATCH ? PLAN_STAGE : PLAN_FAULT;
    return PLAN_LATE;
}

/* Does an asynchronous copy take the side for host memory? By a unified address managed memory is
 * the device's, and what a call names by its type is what it is named. */
static bool is_taken_for_host(CUmemorytype type, const struct sim_range *range)
{
    return type == CU_MEMORYTYPE_HOST || (type == CU_MEMORYTYPE_UNIFIED && sim_is_host(range));
}

static bool is_between_hosts(const struct sim_copy *c, const struct sim_range *src,
                             const struct sim_range *dst)
{
    return is_taken_for_host(c->src_type, src) && is_taken_for_host(c->dst_type, dst);
}

static enum plan plan_copy(enum sim_manner manner, const struct sim_copy *c,
                           const struct sim_range *src, const struct sim_range *dst)
{
    const size_t bytes = c->width * c->height * c->depth;
    bool from_pageable = src->kind == MEMORY_PAGEABLE && !sim_options.pageable_access;
    bool to_pageable = dst->kind == MEMORY_PAGEABLE && !sim_options.pageable_access;
    switch (manner) {
    case MANNER_ASYNC:
        if (to_pageable || is_between_hosts(c, src, dst))
            return PLAN_WAIT;
        return !from_pageable ? PLAN_LATE : bytes <= STAGED_ASYNC ? PLAN_STAGE : PLAN_WAIT;
    case MANNER_SYNC:
        if (!sim_is_waited_for(src) && !sim_is_waited_for(dst))
            return PLAN_LATE; /* the device's own business: no wait on the host */
        return from_pageable && !sim_is_host(dst) && c->dst_type != CU_MEMORYTYPE_HOST ? PLAN_STAGE
                                                                                       : PLAN_WAIT;
    case MANNER_NODE:
        if (to_pageable || (from_pageable && bytes > STAGED_ASYNC))
            return PLAN_WAIT;
        return from_pageable ? PLAN_STAGE : PLAN_LATE;
    case MANNER_BATCH_DURING:
        if (sim_is_waited_for(src) && !from_pageable)
            return PLAN_WAIT; /* of managed memory as its contract has it: that was not asked */
        return plan_batch(manner, from_pageable, bytes);
    default:
        return plan_batch(manner, from_pageable, bytes);
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
    return range->kind != MEMORY_INVALID && extent <= range->size - (address - range->base);
}

/* `small`: a plain copy out of registered memory whose bytes the driver may take in the call. */
static CUresult bind_locked(struct sim_copy *c, enum sim_manner manner, enum plan *plan,
                            bool *small)
{
    struct sim_range src, dst;
    sim_memory_find_locked(c->src, &src);
    sim_memory_find_locked(c->dst, &dst);
    if (!fits(&src, c->src, sim_extent(c, c->src_pitch, c->src_slice)) ||
        !fits(&dst, c->dst, sim_extent(c, c->dst_pitch, c->dst_slice)))
        return CUDA_ERROR_INVALID_VALUE;
    *plan = plan_copy(manner, c, &src, &dst);
    *small = src.kind != MEMORY_PAGEABLE && sim_is_host(&src) && !sim_is_host(&dst) &&
             c->height == 1 && c->depth == 1 && c->width <= TAKEN_EARLY;
    c->src = sim_device_view(&src, c->src, &c->src_access);
    c->dst = sim_device_view(&dst, c->dst, &c->dst_access);
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

CUresult sim_copy_bind_node_locked(struct sim_copy *copy, bool *waits)
{
    enum plan plan;
    bool small;
    CUresult result = bind_locked(copy, MANNER_NODE, &plan, &small);
    *waits = *waits || (result == CUDA_SUCCESS && plan == PLAN_WAIT);
    return result == CUDA_SUCCESS && plan == PLAN_STAGE ? stage(copy) : result;
}

/* A synchronous copy of pageable memory stages its source once its turn has come, and returns then:
 * before the bytes have landed. */
static CUresult wait_for_turn_locked(CUstream stream)
{
    struct sim_work mark = {.kind = WORK_MARK};
    uint64_t seq;
    CUresult result = sim_stream_work_locked(stream, &mark, &seq);
    if (result == CUDA_SUCCESS)
        sim_stream_wait_locked(stream, seq);
    return result;
}

/* How long a synchronous pageable copy still takes after it returned, in delays: on an H200 the end
 * of one of 64 KB and more is not there yet when another stream reads it at once, that of 16 KB is.
 */
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

static CUresult stage_unlocked(CUstream stream, struct sim_copy *copy, enum sim_manner manner)
{
    CUresult result = CUDA_SUCCESS;
    sim_stream_ref_locked(stream);
    if (manner == MANNER_SYNC)
        result = wait_for_turn_locked(stream);
    if (result == CUDA_SUCCESS) {
        sim_unlock();
        result = stage(copy);
        sim_lock();
    }
    sim_stream_unref_locked(stream);
    return result;
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
    } else if (result == CUDA_SUCCESS && plan == PLAN_STAGE) {
        result = stage_unlocked(stream, &work.copy, manner);
        work.delays = manner == MANNER_SYNC ? landing_delays(&work.copy) : 0;
    }
    if (result != CUDA_SUCCESS)
        return result;
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

CUresult sim_copy_submit(CUstream handle, CUstream dflt, const struct sim_copy *copy,
                         enum sim_manner manner)
{
    CUstream stream;
    sim_lock();
    CUresult result = sim_stream_enter_locked(handle, dflt, &stream);
    if (result == CUDA_SUCCESS && !sim_copy_empty(copy)) {
        result = stream->capture ? capture_locked(stream, copy, manner)
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
