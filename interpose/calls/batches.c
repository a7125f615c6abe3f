/* Batch copies: the one call after which the driver still reads pageable memory.
 *
 * A batch is recorded operation by operation. What its access order promises and what the driver
 * does (docs/driver.md, Q14): STREAM blocks on a pageable source and stages nothing; ANY, and
 * against its contract DURING_API_CALL, read a pageable source of more than 64 KB after the call
 * returned; a pageable destination is written late in every order; DURING_API_CALL blocks on a
 * pinned source.
 *
 * In a capture the driver refuses a batch with CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, the capture
 * goes on, and the graph lacks the copies (SC304). With capture=repair each becomes a node, in
 * order. A source with order DURING_API_CALL is the caller's again when the call returns, so the
 * node reads a copy of it.
 */
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/calls/issue.h"
#include "interpose/capture/captures.h"
#include "interpose/driver/addresses.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"
#include "interpose/driver/wrap.h"
#include "interpose/graph/copy_sides.h"
#include "interpose/graph/node_uses.h"
#include "interpose/reaper/hazards.h"
#include "interpose/streams/streams.h"
#include "track/hazard.h"
#include "track/order.h"
#include "track/shape.h"
#include "track/spans.h"
#include "track/track.h"

#include "track/poison.h"

enum { STAGED_BYTES_MAX = 64 * 1024 };

static bool is_known(const struct sc_shape *shape)
{
    return sc_track_find_range(&sc_track, shape->address).range != 0;
}

static void add_pageable(struct sc_issue *issue, enum sc_direction direction,
                         const struct sc_shape *shape)
{
    if (sc_address_is_pageable(shape->address))
        sc_issue_pageable(issue, direction, (const void *)shape->address,
                          sc_shape_hull_bytes(shape));
}

static void add_source(struct sc_issue *issue, const struct sc_shape *shape,
                       CUmemcpySrcAccessOrder order)
{
    bool late =
        order != CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && sc_shape_hull_bytes(shape) > STAGED_BYTES_MAX;
    if (!is_known(shape) && late)
        add_pageable(issue, SC_H2D, shape);
    else if (is_known(shape) && order != CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
        sc_issue_host_shape(issue, SC_H2D, shape);
    else
        sc_issue_touch(issue, SC_TOUCH_READ, shape);
}

static void add_destination(struct sc_issue *issue, const struct sc_shape *shape)
{
    if (is_known(shape))
        sc_issue_host_shape(issue, SC_D2H, shape);
    else
        add_pageable(issue, SC_D2H, shape);
}

/* A batch is no wait for its stream, also where a range went away while we looked at it. */
static void pass_on(struct sc_issue *issue, bool issued)
{
    issue->joins_stream = false;
    if (!issued)
        sc_issue_ready(issue);
    else
        sc_issue_end(issue, CUDA_SUCCESS);
}

struct batch {
    const struct sc_call *call;
    CUstream stream;
    struct sc_order_call ordered;
    struct sc_stream_record *captured; /* NULL: nothing captures it */
};

static void begin_call(struct batch *batch)
{
    struct sc_stream_record *stream =
        sc_active() ? sc_streams_find(batch->stream, batch->call->per_thread) : NULL;
    batch->ordered.stream = 0;
    if (stream)
        sc_track_begin(&sc_track, stream->id, &batch->ordered);
}

static CUresult end_call(struct batch *batch, CUresult result)
{
    sc_track_end(&sc_track, &batch->ordered, result == CUDA_SUCCESS);
    return result;
}

/* The operations of a batch are unordered among each other; each is held against what was in flight
 * before the batch, as it would be had it been issued alone. */
static void each_copy(const struct batch *batch, CUdeviceptr dst, CUdeviceptr src, size_t bytes,
                      CUmemcpySrcAccessOrder order, bool issued)
{
    struct sc_issue issue;
    sc_issue_begin(&issue, batch->call, batch->stream);
    if (!issue.stream || bytes == 0)
        return;
    add_source(&issue, &(struct sc_shape){src, bytes, bytes, 1}, order);
    add_destination(&issue, &(struct sc_shape){dst, bytes, bytes, 1});
    pass_on(&issue, issued);
}

/* ---- in a capture ---- */

static struct sc_stream_record *capturing_stream(const struct batch *batch)
{
    struct sc_stream_record *stream = sc_captures_any_open() && sc_active()
                                          ? sc_streams_find(batch->stream, batch->call->per_thread)
                                          : NULL;
    return stream && stream->kind != SC_STREAM_LEGACY && sc_streams_is_capturing(stream) ? stream
                                                                                         : NULL;
}

static void report_missing(const struct batch *batch, enum sc_action action)
{
    struct sc_capture capture = sc_captures_of(batch->captured);
    sc_hazards_report_capture(SC304, action, &capture.begin,
                              &(struct sc_culprit){batch->call->api, batch->call->site, NULL});
}

/* The driver's own answer, and what it means for the graph. */
static CUresult refused(const struct batch *batch, CUresult result)
{
    if (sc_driver_is_capture_error(result) && sc_streams_is_capturing(batch->captured))
        report_missing(batch, SC_ACTION_REPORTED);
    return result;
}

/* The driver sees wrong arguments before it looks at the capture, so those are left to it. */
static bool is_order(CUmemcpySrcAccessOrder order)
{
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

/* As a batch says which of its copies was refused. */
static void note_failed(size_t *failed, size_t copy, CUresult result)
{
    if (failed && result != CUDA_SUCCESS)
        *failed = copy;
}

static CUdeviceptr lasting_source(const struct sc_copy_side *side, CUmemcpySrcAccessOrder order)
{
    void *kept = NULL;
    if (side->host && order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
        kept =
            sc_node_uses_keep((const void *)side->shape.address, sc_shape_hull_bytes(&side->shape));
    return kept ? (CUdeviceptr)(uintptr_t)kept : side->shape.address;
}

static CUresult capture_copy(const struct batch *batch, CUdeviceptr dst, CUdeviceptr src,
                             size_t bytes, CUmemcpySrcAccessOrder order)
{
    struct sc_copy_sides sides = {.src = sc_copy_side_at(src, bytes),
                                  .dst = sc_copy_side_at(dst, bytes)};
    sides.src.shape.address = (uintptr_t)lasting_source(&sides.src, order);
    struct sc_issue issue;
    sc_issue_begin(&issue, batch->call, batch->stream);
    sc_issue_sides(&issue, sides);
    CUdeviceptr from = sides.src.shape.address;
    CUresult result = batch->call->per_thread
                          ? sc_real.cuMemcpyAsync_ptsz(dst, from, bytes, batch->stream)
                          : sc_real.cuMemcpyAsync(dst, from, bytes, batch->stream);
    return sc_issue_end(&issue, result);
}

struct flat_batch {
    struct batch batch;
    const CUdeviceptr *dsts;
    const CUdeviceptr *srcs;
    const size_t *sizes;
    size_t count;
    const CUmemcpyAttributes *attributes;
    const size_t *first;
    size_t attribute_count;
    size_t *failed; /* where the index of a refused copy goes, or NULL */
};

/* Attribute i holds for the copies from attrsIdxs[i] to attrsIdxs[i + 1]; `begun` counts those that
 * hold for this copy or for earlier ones. */
static CUmemcpySrcAccessOrder order_of(const struct flat_batch *batch, size_t copy, size_t *begun)
{
    if (!batch->attributes || !batch->first)
        return CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    while (*begun < batch->attribute_count && batch->first[*begun] <= copy)
        (*begun)++;
    return *begun ? batch->attributes[*begun - 1].srcAccessOrder
                  : CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
}

static void each_flat(const struct flat_batch *batch, bool issued)
{
    size_t begun = 0;
    if (!sc_active() || !batch->dsts || !batch->srcs || !batch->sizes)
        return;
    for (size_t i = 0; i < batch->count; i++)
        each_copy(&batch->batch, batch->dsts[i], batch->srcs[i], batch->sizes[i],
                  order_of(batch, i, &begun), issued);
}

static bool is_valid(const struct flat_batch *batch)
{
    bool valid = batch->dsts && batch->srcs && batch->sizes && batch->attributes && batch->first &&
                 batch->attribute_count && batch->attribute_count <= batch->count &&
                 batch->first[0] == 0;
    for (size_t i = 0; valid && i < batch->attribute_count; i++)
        valid = is_order(batch->attributes[i].srcAccessOrder) && batch->first[i] < batch->count &&
                (i == 0 || batch->first[i] > batch->first[i - 1]);
    return valid;
}

static CUresult capture_flat(const struct flat_batch *batch)
{
    CUresult result = CUDA_SUCCESS;
    size_t begun = 0;
    for (size_t i = 0; i < batch->count && result == CUDA_SUCCESS; i++) {
        result = capture_copy(&batch->batch, batch->dsts[i], batch->srcs[i], batch->sizes[i],
                              order_of(batch, i, &begun));
        note_failed(batch->failed, i, result);
    }
    report_missing(&batch->batch, result == CUDA_SUCCESS ? SC_ACTION_REROUTED : SC_ACTION_REPORTED);
    return result;
}

/* The driver's call follows, unless the batch was captured node by node. */
static bool begin_flat(struct flat_batch *batch, CUresult *result)
{
    batch->batch.captured = capturing_stream(&batch->batch);
    if (batch->batch.captured && sc_captures_are_repaired() && is_valid(batch)) {
        *result = capture_flat(batch);
        return false;
    }
    if (!batch->batch.captured) {
        each_flat(batch, false);
        begin_call(&batch->batch);
    }
    return true;
}

static CUresult end_flat(struct flat_batch *batch, CUresult result)
{
    if (batch->batch.captured)
        return refused(&batch->batch, result);
    end_call(&batch->batch, result);
    if (result == CUDA_SUCCESS)
        each_flat(batch, true);
    return result;
}

SC_PAIR(cuMemcpyBatchAsync, _ptsz,
        (CUdeviceptr * dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
         CUmemcpyAttributes *attributes, size_t *first, size_t attribute_count, size_t *failed,
         CUstream stream),
        (dsts, srcs, sizes, count, attributes, first, attribute_count, failed, stream))
{
    struct flat_batch batch = {
        .batch = {.call = call, .stream = stream},
        .dsts = dsts,
        .srcs = srcs,
        .sizes = sizes,
        .count = count,
        .attributes = attributes,
        .first = first,
        .attribute_count = attribute_count,
        .failed = failed,
    };
    CUresult result;
    if (!begin_flat(&batch, &result))
        return result;
    return end_flat(
        &batch, real(dsts, srcs, sizes, count, attributes, first, attribute_count, failed, stream));
}

SC_PAIR(cuMemcpyBatchAsync_v2, _ptsz,
        (CUdeviceptr * dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
         CUmemcpyAttributes *attributes, size_t *first, size_t attribute_count, CUstream stream),
        (dsts, srcs, sizes, count, attributes, first, attribute_count, stream))
{
    struct flat_batch batch = {
        .batch = {.call = call, .stream = stream},
        .dsts = dsts,
        .srcs = srcs,
        .sizes = sizes,
        .count = count,
        .attributes = attributes,
        .first = first,
        .attribute_count = attribute_count,
    };
    CUresult result;
    if (!begin_flat(&batch, &result))
        return result;
    return end_flat(&batch,
                    real(dsts, srcs, sizes, count, attributes, first, attribute_count, stream));
}

/* The rows of a side; of several layers the layers, each as long as from its first row to its last.
 */
static struct sc_shape shape_of(const CUmemcpy3DOperand *operand, const CUextent3D *extent)
{
    size_t row = operand->op.ptr.rowLength ? operand->op.ptr.rowLength : extent->width;
    size_t rows = operand->op.ptr.layerHeight ? operand->op.ptr.layerHeight : extent->height;
    if (extent->depth == 1)
        return (struct sc_shape){operand->op.ptr.ptr, extent->width, row, extent->height};
    return (struct sc_shape){operand->op.ptr.ptr, row * (extent->height - 1) + extent->width,
                             row * rows, extent->depth};
}

static struct sc_fold fold_of(const CUmemcpy3DOperand *operand, const CUextent3D *extent)
{
    if (extent->depth > 1 && extent->height > 1 && operand->op.ptr.rowLength > extent->width)
        return (struct sc_fold){extent->width, operand->op.ptr.rowLength};
    return (struct sc_fold){0, 0};
}

static void add_sides(struct sc_issue *issue, const CUDA_MEMCPY3D_BATCH_OP *op)
{
    if (op->src.type == CU_MEMCPY_OPERAND_TYPE_POINTER) {
        struct sc_shape src = shape_of(&op->src, &op->extent);
        struct sc_fold fold = fold_of(&op->src, &op->extent);
        add_source(issue, &src, op->srcAccessOrder);
        sc_issue_folded(issue, 0, 0, &fold);
    }
    if (op->dst.type == CU_MEMCPY_OPERAND_TYPE_POINTER) {
        struct sc_shape dst = shape_of(&op->dst, &op->extent);
        struct sc_fold fold = fold_of(&op->dst, &op->extent);
        unsigned ops = issue->count;
        unsigned touches = issue->touch_count;
        add_destination(issue, &dst);
        sc_issue_folded(issue, ops, touches, &fold);
    }
}

struct batch_3d {
    struct batch batch;
    const CUDA_MEMCPY3D_BATCH_OP *list;
    size_t count;
    size_t *failed; /* where the index of a refused copy goes, or NULL */
};

static void each_3d(const struct batch_3d *batch, bool issued)
{
    for (size_t i = 0; batch->list && sc_active() && i < batch->count; i++) {
        const CUDA_MEMCPY3D_BATCH_OP *op = &batch->list[i];
        if (!op->extent.width || !op->extent.height || !op->extent.depth)
            continue;
        struct sc_issue issue;
        sc_issue_begin(&issue, batch->batch.call, batch->batch.stream);
        if (!issue.stream)
            return;
        add_sides(&issue, op);
        pass_on(&issue, issued);
    }
}

/* An operand as a side of a plain copy. Arrays count in elements here and in bytes there: they are
 * left to the driver. */
static CUresult capture_3d_copy(const struct batch *batch, const CUDA_MEMCPY3D_BATCH_OP *op)
{
    CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = op->src.op.ptr.ptr,
        .srcPitch = op->src.op.ptr.rowLength ? op->src.op.ptr.rowLength : op->extent.width,
        .srcHeight = op->src.op.ptr.layerHeight ? op->src.op.ptr.layerHeight : op->extent.height,
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = op->dst.op.ptr.ptr,
        .dstPitch = op->dst.op.ptr.rowLength ? op->dst.op.ptr.rowLength : op->extent.width,
        .dstHeight = op->dst.op.ptr.layerHeight ? op->dst.op.ptr.layerHeight : op->extent.height,
        .WidthInBytes = op->extent.width,
        .Height = op->extent.height,
        .Depth = op->extent.depth,
    };
    struct sc_copy_sides sides = sc_copy_sides_of_3d(&copy);
    sides.src.shape.address = (uintptr_t)lasting_source(&sides.src, op->srcAccessOrder);
    copy.srcDevice = sides.src.shape.address;
    struct sc_issue issue;
    sc_issue_begin(&issue, batch->call, batch->stream);
    sc_issue_sides(&issue, sides);
    CUresult result = batch->call->per_thread
                          ? sc_real.cuMemcpy3DAsync_v2_ptsz(&copy, batch->stream)
                          : sc_real.cuMemcpy3DAsync_v2(&copy, batch->stream);
    return sc_issue_end(&issue, result);
}

/* Valid, and without arrays. */
static bool is_plain(const struct batch_3d *batch, unsigned long long flags)
{
    bool plain = batch->list && batch->count && !flags;
    for (size_t i = 0; plain && i < batch->count; i++)
        plain = is_order(batch->list[i].srcAccessOrder) &&
                batch->list[i].src.type == CU_MEMCPY_OPERAND_TYPE_POINTER &&
                batch->list[i].dst.type == CU_MEMCPY_OPERAND_TYPE_POINTER;
    return plain;
}

static CUresult capture_3d(const struct batch_3d *batch)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < batch->count && result == CUDA_SUCCESS; i++) {
        result = capture_3d_copy(&batch->batch, &batch->list[i]);
        note_failed(batch->failed, i, result);
    }
    report_missing(&batch->batch, result == CUDA_SUCCESS ? SC_ACTION_REROUTED : SC_ACTION_REPORTED);
    return result;
}

/* The driver's call follows, unless the batch was captured node by node. */
static bool begin_3d(struct batch_3d *batch, unsigned long long flags, CUresult *result)
{
    batch->batch.captured = capturing_stream(&batch->batch);
    if (batch->batch.captured && sc_captures_are_repaired() && is_plain(batch, flags)) {
        *result = capture_3d(batch);
        return false;
    }
    if (!batch->batch.captured) {
        each_3d(batch, false);
        begin_call(&batch->batch);
    }
    return true;
}

static CUresult end_3d(struct batch_3d *batch, CUresult result)
{
    if (batch->batch.captured)
        return refused(&batch->batch, result);
    end_call(&batch->batch, result);
    if (result == CUDA_SUCCESS)
        each_3d(batch, true);
    return result;
}

SC_PAIR(cuMemcpy3DBatchAsync, _ptsz,
        (size_t count, CUDA_MEMCPY3D_BATCH_OP *list, size_t *failed, unsigned long long flags,
         CUstream stream),
        (count, list, failed, flags, stream))
{
    struct batch_3d batch = {
        .batch = {.call = call, .stream = stream},
        .list = list,
        .count = count,
        .failed = failed,
    };
    CUresult result;
    if (!begin_3d(&batch, flags, &result))
        return result;
    return end_3d(&batch, real(count, list, failed, flags, stream));
}

SC_PAIR(cuMemcpy3DBatchAsync_v2, _ptsz,
        (size_t count, CUDA_MEMCPY3D_BATCH_OP *list, unsigned long long flags, CUstream stream),
        (count, list, flags, stream))
{
    struct batch_3d batch = {
        .batch = {.call = call, .stream = stream},
        .list = list,
        .count = count,
    };
    CUresult result;
    if (!begin_3d(&batch, flags, &result))
        return result;
    return end_3d(&batch, real(count, list, flags, stream));
}

SC_PAIR(cuMemPrefetchBatchAsync, _ptsz,
        (CUdeviceptr * addresses, size_t *sizes, size_t count, CUmemLocation *locations,
         size_t *location_indices, size_t location_count, unsigned long long flags,
         CUstream stream),
        (addresses, sizes, count, locations, location_indices, location_count, flags, stream))
{
    struct sc_work work = sc_work_begin(call, stream, SC_WORK_QUIET);
    return sc_work_end(&work, real(addresses, sizes, count, locations, location_indices,
                                   location_count, flags, stream));
}
