/* Batch copies: several copies in one call, each with attributes that say when its source is read.
 * They are not allowed in the legacy stream, and a capture goes on without them (900), unless the
 * driver is as new as SIM_TAKES_BATCHES. */
#include "api.h"
#include "array.h"
#include "copy.h"

static CUresult manner_of(CUmemcpySrcAccessOrder order, enum sim_manner *manner)
{
    switch (order) {
    case CU_MEMCPY_SRC_ACCESS_ORDER_STREAM:
        *manner = MANNER_BATCH_STREAM;
        break;
    case CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL:
        *manner = MANNER_BATCH_DURING;
        break;
    case CU_MEMCPY_SRC_ACCESS_ORDER_ANY:
        *manner = MANNER_BATCH_ANY;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* The legacy stream takes no batch. */
static bool is_legacy(CUstream dflt, CUstream handle)
{
    return (handle ? handle : dflt) == CU_STREAM_LEGACY;
}

/* Copy i has the last attributes whose first index is at most i. */
static CUresult check(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                      CUmemcpyAttributes *attrs, size_t *firsts, size_t attr_count)
{
    enum sim_manner manner;
    if (!dsts || !srcs || !sizes || count == 0 || !attrs || !firsts || attr_count == 0 ||
        attr_count > count || firsts[0] != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < attr_count; i++)
        if ((i > 0 && firsts[i] <= firsts[i - 1]) || firsts[i] >= count ||
            manner_of(attrs[i].srcAccessOrder, &manner) != CUDA_SUCCESS)
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult batch(CUstream dflt, CUstream handle, CUdeviceptr *dsts, CUdeviceptr *srcs,
                      size_t *sizes, size_t count, CUmemcpyAttributes *attrs, size_t *firsts,
                      size_t attr_count, size_t *failed)
{
    size_t attr = 0;
    CUresult result = check(dsts, srcs, sizes, count, attrs, firsts, attr_count);
    *failed = SIZE_MAX;
    if (result == CUDA_SUCCESS && is_legacy(dflt, handle))
        result = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        struct sim_copy copy = sim_copy_flat(dsts[i], srcs[i], sizes[i]);
        enum sim_manner manner;
        while (attr + 1 < attr_count && firsts[attr + 1] <= i)
            attr++;
        result = manner_of(attrs[attr].srcAccessOrder, &manner);
        if (result == CUDA_SUCCESS)
            result = sim_copy_submit(handle, dflt, &copy, manner);
        *failed = result && result != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED ? i : SIZE_MAX;
    }
    return result;
}

SIM_API_PTSZ(cuMemcpyBatchAsync,
             (CUdeviceptr * dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
              CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, size_t *failIdx,
              CUstream hStream),
             dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, hStream)
{
    size_t failed;
    CUresult result =
        batch(dflt, hStream, dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, &failed);
    if (failIdx && result != CUDA_SUCCESS)
        *failIdx = failed;
    return result;
}

SIM_API_PTSZ(cuMemcpyBatchAsync_v2,
             (CUdeviceptr * dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
              CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream),
             dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream)
{
    size_t failed;
    return batch(dflt, hStream, dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, &failed);
}

/* One copy, on the legacy stream as on any other: what a driver says there has not been asked. */
SIM_API_PTSZ(cuMemcpyWithAttributesAsync,
             (CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpyAttributes *attr,
              CUstream hStream),
             dst, src, size, attr, hStream)
{
    enum sim_manner manner;
    CUresult result = attr ? manner_of(attr->srcAccessOrder, &manner) : CUDA_ERROR_INVALID_VALUE;
    struct sim_copy copy = sim_copy_flat(dst, src, size);
    return result ? result : sim_copy_submit(hStream, dflt, &copy, manner);
}

/* Widths and offsets count elements when an array takes part, else bytes. */
static size_t unit_of(const CUDA_MEMCPY3D_BATCH_OP *op)
{
    CUarray array = op->src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY   ? op->src.op.array.array
                    : op->dst.type == CU_MEMCPY_OPERAND_TYPE_ARRAY ? op->dst.op.array.array
                                                                   : NULL;
    return array ? sim_array_element_bytes(array) : 1;
}

/* Where one operand starts, as the side of a three-dimensional copy. */
struct side {
    CUmemorytype type;
    CUdeviceptr address;
    CUarray array;
    size_t pitch, height;
    CUoffset3D offset;
};

static CUresult operand(const CUmemcpy3DOperand *o, const CUextent3D *extent, struct side *side)
{
    *side = (struct side){.pitch = extent->width, .height = extent->height};
    if (o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        side->type = CU_MEMORYTYPE_ARRAY;
        side->array = o->op.array.array;
        side->offset = o->op.array.offset;
        return CUDA_SUCCESS;
    }
    if (o->type != CU_MEMCPY_OPERAND_TYPE_POINTER)
        return CUDA_ERROR_INVALID_VALUE;
    side->type = CU_MEMORYTYPE_UNIFIED;
    side->address = o->op.ptr.ptr;
    side->pitch = o->op.ptr.rowLength ? o->op.ptr.rowLength : side->pitch;
    side->height = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : side->height;
    return CUDA_SUCCESS;
}

static CUDA_MEMCPY3D parameters(const struct side *src, const struct side *dst,
                                const CUextent3D *extent, size_t unit)
{
    return (CUDA_MEMCPY3D){
        .srcXInBytes = src->offset.x * unit,
        .srcY = src->offset.y,
        .srcZ = src->offset.z,
        .srcMemoryType = src->type,
        .srcDevice = src->address,
        .srcArray = src->array,
        .srcPitch = src->pitch * unit,
        .srcHeight = src->height,
        .dstXInBytes = dst->offset.x * unit,
        .dstY = dst->offset.y,
        .dstZ = dst->offset.z,
        .dstMemoryType = dst->type,
        .dstDevice = dst->address,
        .dstArray = dst->array,
        .dstPitch = dst->pitch * unit,
        .dstHeight = dst->height,
        .WidthInBytes = extent->width * unit,
        .Height = extent->height,
        .Depth = extent->depth,
    };
}

static CUresult one_3d(CUstream dflt, CUstream handle, const CUDA_MEMCPY3D_BATCH_OP *op)
{
    struct side src, dst;
    struct sim_copy copy;
    enum sim_manner manner;
    size_t unit = unit_of(op);
    CUresult result = unit ? manner_of(op->srcAccessOrder, &manner) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = operand(&op->src, &op->extent, &src);
    if (result == CUDA_SUCCESS)
        result = operand(&op->dst, &op->extent, &dst);
    if (result == CUDA_SUCCESS) {
        CUDA_MEMCPY3D p = parameters(&src, &dst, &op->extent, unit);
        result = sim_copy_from_3d(&p, &copy);
    }
    return result ? result : sim_copy_submit(handle, dflt, &copy, manner);
}

static CUresult batch_3d(CUstream dflt, CUstream handle, size_t count,
                         const CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
                         unsigned long long flags)
{
    CUresult result = CUDA_SUCCESS;
    *failed = SIZE_MAX;
    if (!ops || count == 0 || flags != 0 || is_legacy(dflt, handle))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        result = one_3d(dflt, handle, &ops[i]);
        *failed = result && result != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED ? i : SIZE_MAX;
    }
    return result;
}

SIM_API_PTSZ(cuMemcpy3DBatchAsync,
             (size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
              unsigned long long flags, CUstream hStream),
             numOps, opList, failIdx, flags, hStream)
{
    size_t failed;
    CUresult result = batch_3d(dflt, hStream, numOps, opList, &failed, flags);
    if (failIdx && result != CUDA_SUCCESS)
        *failIdx = failed;
    return result;
}

SIM_API_PTSZ(cuMemcpy3DBatchAsync_v2,
             (size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
              CUstream hStream),
             numOps, opList, flags, hStream)
{
    size_t failed;
    return batch_3d(dflt, hStream, numOps, opList, &failed, flags);
}

SIM_API_PTSZ(cuMemcpy3DWithAttributesAsync,
             (CUDA_MEMCPY3D_BATCH_OP * op, unsigned long long flags, CUstream hStream), op, flags,
             hStream)
{
    return op && flags == 0 ? one_3d(dflt, hStream, op) : CUDA_ERROR_INVALID_VALUE;
}
