/* Batch copies: the one call after which the driver still reads pageable memory.
 *
 * A batch is recorded operation by operation. What its access order promises and what the driver
 * does (docs/driver.md, Q14): STREAM blocks on a pageable source and stages nothing; ANY, and
 * against its contract DURING_API_CALL, read a pageable source of more than 64 KB after the call
 * returned; a pageable destination is written late in every order; DURING_API_CALL blocks on a
 * pinned source.
 */
#include "interpose/hazards.h"
#include "interpose/issue.h"
#include "interpose/marks.h"
#include "interpose/process.h"
#include "interpose/wrap.h"

#include "track/poison.h"

enum { STAGED_BYTES_MAX = 64 * 1024 };

struct batch_copy {
    CUdeviceptr dst;
    CUdeviceptr src;
    size_t bytes;
    CUmemcpySrcAccessOrder order;
};

static void add_copy(struct sc_issue *issue, const struct batch_copy *copy)
{
    bool late = copy->order != CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && copy->bytes > STAGED_BYTES_MAX;
    struct sc_range_info src = sc_track_find_range(&sc_track, (uintptr_t)copy->src);
    struct sc_range_info dst = sc_track_find_range(&sc_track, (uintptr_t)copy->dst);
    if (src.range && copy->order != CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
        sc_issue_host(issue, SC_H2D, (const void *)(uintptr_t)copy->src, copy->bytes);
    else if (!src.range && late && sc_is_pageable_address(copy->src))
        sc_issue_pageable(issue, SC_H2D, (const void *)(uintptr_t)copy->src, copy->bytes);
    if (dst.range)
        sc_issue_host(issue, SC_D2H, (const void *)(uintptr_t)copy->dst, copy->bytes);
    else if (sc_is_pageable_address(copy->dst))
        sc_issue_pageable(issue, SC_D2H, (const void *)(uintptr_t)copy->dst, copy->bytes);
}

/* Attribute i holds for the copies from attrsIdxs[i] to attrsIdxs[i + 1]. */
static CUmemcpySrcAccessOrder order_of(const CUmemcpyAttributes *attributes, const size_t *first,
                                       size_t attribute_count, size_t copy)
{
    CUmemcpySrcAccessOrder order = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    for (size_t i = 0; attributes && first && i < attribute_count && first[i] <= copy; i++)
        order = attributes[i].srcAccessOrder;
    return order;
}

struct batch {
    const char *api;
    void *site;
    CUstream stream;
    bool per_thread;
};

/* The operations of a batch are unordered among each other; each is held against what was in flight
 * before the batch, as it would be had it been issued alone. */
static void each_copy(const struct batch *batch, const struct batch_copy *copy, bool issued)
{
    struct sc_issue issue;
    sc_issue_begin(&issue, batch->api, batch->stream, batch->per_thread, batch->site);
    if (!issue.stream || copy->bytes == 0)
        return;
    add_copy(&issue, copy);
    if (!issued)
        sc_issue_ready(&issue);
    else
        sc_issue_end(&issue, CUDA_SUCCESS);
}

struct flat_batch {
    struct batch call;
    const CUdeviceptr *dsts;
    const CUdeviceptr *srcs;
    const size_t *sizes;
    size_t count;
    const CUmemcpyAttributes *attributes;
    const size_t *first;
    size_t attribute_count;
};

static void each_flat(const struct flat_batch *batch, bool issued)
{
    if (!sc_active() || !batch->dsts || !batch->srcs || !batch->sizes)
        return;
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_copy copy = {
            batch->dsts[i], batch->srcs[i], batch->sizes[i],
            order_of(batch->attributes, batch->first, batch->attribute_count, i)};
        each_copy(&batch->call, &copy, issued);
    }
}

#define FLAT_BATCH(symbol, parameters, arguments)                                                  \
    SC_DEFINE2(symbol, _ptsz, parameters,                                                          \
               struct flat_batch batch = {{API, SC_SITE(), hStream, per_thread},                   \
                                          dsts,                                                    \
                                          srcs,                                                    \
                                          sizes,                                                   \
                                          count,                                                   \
                                          attrs,                                                   \
                                          attrsIdxs,                                               \
                                          numAttrs};                                               \
               each_flat(&batch, false); CUresult result = REAL arguments;                         \
               if (result == CUDA_SUCCESS) each_flat(&batch, true); return result;)

FLAT_BATCH(cuMemcpyBatchAsync,
           (CUdeviceptr * dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
            CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, size_t *failIdx,
            CUstream hStream),
           (dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, hStream))

FLAT_BATCH(cuMemcpyBatchAsync_v2,
           (CUdeviceptr * dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
            CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream),
           (dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream))

static size_t operand_bytes(const CUmemcpy3DOperand *operand, const CUextent3D *extent)
{
    size_t row = operand->op.ptr.rowLength ? operand->op.ptr.rowLength : extent->width;
    size_t rows = operand->op.ptr.layerHeight ? operand->op.ptr.layerHeight : extent->height;
    return row * (rows * (extent->depth - 1) + extent->height - 1) + extent->width;
}

/* Rows of both sides differ in general, so each side is a copy of its own hull. */
static void each_3d(const struct batch *batch, const CUDA_MEMCPY3D_BATCH_OP *list, size_t count,
                    bool issued)
{
    for (size_t i = 0; list && sc_active() && i < count; i++) {
        const CUDA_MEMCPY3D_BATCH_OP *op = &list[i];
        if (!op->extent.width || !op->extent.height || !op->extent.depth)
            continue;
        struct sc_issue issue;
        sc_issue_begin(&issue, batch->api, batch->stream, batch->per_thread, batch->site);
        if (!issue.stream)
            return;
        bool src_is_pointer = op->src.type == CU_MEMCPY_OPERAND_TYPE_POINTER;
        bool dst_is_pointer = op->dst.type == CU_MEMCPY_OPERAND_TYPE_POINTER;
        if (src_is_pointer)
            add_copy(&issue, &(struct batch_copy){0, op->src.op.ptr.ptr,
                                                  operand_bytes(&op->src, &op->extent),
                                                  op->srcAccessOrder});
        if (dst_is_pointer)
            add_copy(&issue, &(struct batch_copy){op->dst.op.ptr.ptr, 0,
                                                  operand_bytes(&op->dst, &op->extent),
                                                  CU_MEMCPY_SRC_ACCESS_ORDER_STREAM});
        if (!issued)
            sc_issue_ready(&issue);
        else
            sc_issue_end(&issue, CUDA_SUCCESS);
    }
}

#define BATCH_3D(symbol, parameters, arguments)                                                    \
    SC_DEFINE2(symbol, _ptsz, parameters,                                                          \
               struct batch batch = {API, SC_SITE(), hStream, per_thread};                         \
               each_3d(&batch, opList, numOps, false); CUresult result = REAL arguments;           \
               if (result == CUDA_SUCCESS) each_3d(&batch, opList, numOps, true); return result;)

BATCH_3D(cuMemcpy3DBatchAsync,
         (size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx, unsigned long long flags,
          CUstream hStream),
         (numOps, opList, failIdx, flags, hStream))

BATCH_3D(cuMemcpy3DBatchAsync_v2,
         (size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
          CUstream hStream),
         (numOps, opList, flags, hStream))

SC_DEFINE2(cuMemPrefetchBatchAsync, _ptsz,
           (CUdeviceptr * dptrs, size_t *sizes, size_t count, CUmemLocation *locations,
            size_t *locationIdxs, size_t numLocations, unsigned long long flags, CUstream hStream),
           sc_work_begin(hStream, per_thread);
           return REAL(dptrs, sizes, count, locations, locationIdxs, numLocations, flags, hStream);)
