/* Arrays: created, described, destroyed, and copied to and from addresses in one dimension. */
#include "array.h"

#include "api.h"
#include "capture.h"
#include "copy.h"
#include "memory.h"

#include <stdlib.h>

struct CUarray_st {
    uint32_t magic;
    CUDA_ARRAY3D_DESCRIPTOR description;
    uintptr_t base;
    size_t pitch, slice, size;
    bool of_mipmaps;
};

static size_t element_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

bool sim_array_layout(CUarray array, uintptr_t *base, size_t *pitch, size_t *slice)
{
    if (!array || array->magic != MAGIC_ARRAY || !array->base)
        return false;
    *base = array->base;
    *pitch = array->pitch;
    *slice = array->slice;
    return true;
}

size_t sim_array_element_bytes(CUarray array)
{
    bool valid = array && array->magic == MAGIC_ARRAY;
    return valid ? element_bytes(array->description.Format) * array->description.NumChannels : 0;
}

static bool is_deferred(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return d->Flags & CUDA_ARRAY3D_DEFERRED_MAPPING;
}

CUresult sim_array_create(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d, bool of_mipmaps)
{
    size_t element = element_bytes(d->Format) * d->NumChannels;
    if (!out || d->Width == 0 || element == 0 || d->NumChannels > 4 || d->NumChannels == 3)
        return CUDA_ERROR_INVALID_VALUE;
    CUarray array = calloc(1, sizeof *array);
    if (!array)
        return CUDA_ERROR_OUT_OF_MEMORY;
    array->magic = MAGIC_ARRAY;
    array->description = *d;
    array->pitch = (d->Width * element + 31) & ~(size_t)31;
    array->slice = array->pitch * (d->Height ? d->Height : 1);
    array->size = array->slice * (d->Depth ? d->Depth : 1);
    array->of_mipmaps = of_mipmaps;
    CUcontext context = sim_context_current();
    sim_lock();
    CUresult result = sim_context_valid_locked(context) ? sim_capture_unsafe_locked()
                                                        : CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS && !is_deferred(d)) {
        struct sim_range like = {.device = context->device, .context = context};
        array->base = sim_memory_alloc_locked(MEMORY_DEVICE, array->size, &like);
        result = array->base ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_unlock();
    if (result != CUDA_SUCCESS) {
        free(array);
        return result;
    }
    *out = array;
    return CUDA_SUCCESS;
}

SIM_API(cuArrayCreate_v2, (CUarray * pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray), pHandle,
        pAllocateArray)
{
    if (!pAllocateArray)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = pAllocateArray->Width,
        .Height = pAllocateArray->Height,
        .Format = pAllocateArray->Format,
        .NumChannels = pAllocateArray->NumChannels,
    };
    return sim_array_create(pHandle, &d, false);
}

SIM_API(cuArray3DCreate_v2, (CUarray * pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray),
        pHandle, pAllocateArray)
{
    return pAllocateArray ? sim_array_create(pHandle, pAllocateArray, false)
                          : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuArray3DGetDescriptor_v2, (CUDA_ARRAY3D_DESCRIPTOR * pArrayDescriptor, CUarray hArray),
        pArrayDescriptor, hArray)
{
    if (!pArrayDescriptor || !hArray || hArray->magic != MAGIC_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    *pArrayDescriptor = hArray->description;
    return CUDA_SUCCESS;
}

SIM_API(cuArrayGetDescriptor_v2, (CUDA_ARRAY_DESCRIPTOR * pArrayDescriptor, CUarray hArray),
        pArrayDescriptor, hArray)
{
    if (!pArrayDescriptor || !hArray || hArray->magic != MAGIC_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    pArrayDescriptor->Width = hArray->description.Width;
    pArrayDescriptor->Height = hArray->description.Height;
    pArrayDescriptor->Format = hArray->description.Format;
    pArrayDescriptor->NumChannels = hArray->description.NumChannels;
    return CUDA_SUCCESS;
}

void sim_array_destroy(CUarray array)
{
    sim_lock();
    if (array->base)
        sim_memory_free_locked(array->base);
    sim_unlock();
    array->magic = 0;
    free(array);
}

size_t sim_array_deferred_bytes(CUarray array)
{
    bool is_one = array && array->magic == MAGIC_ARRAY && is_deferred(&array->description);
    return is_one ? array->size : 0;
}

CUresult sim_array_wait(void)
{
    CUcontext context = sim_context_current();
    sim_lock();
    CUresult result = sim_context_valid_locked(context) ? sim_capture_unsafe_locked()
                                                        : CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS)
        sim_device_wait_locked(context->device, NULL);
    sim_unlock();
    return result;
}

SIM_API(cuArrayDestroy, (CUarray hArray), hArray)
{
    if (!hArray || hArray->magic != MAGIC_ARRAY)
        return CUDA_ERROR_INVALID_HANDLE;
    if (hArray->of_mipmaps)
        return CUDA_SUCCESS; /* and the level stays */
    CUresult result = sim_array_wait();
    if (result == CUDA_SUCCESS)
        sim_array_destroy(hArray);
    return result;
}

/* Offsets count bytes of the first row. */
static CUresult copy(CUstream dflt, CUstream stream, uintptr_t dst, uintptr_t src, size_t bytes,
                     enum sim_manner manner)
{
    struct sim_copy flat = sim_copy_flat(dst, src, bytes);
    return dst && src ? sim_copy_submit(stream, dflt, &flat, manner) : CUDA_ERROR_INVALID_VALUE;
}

static uintptr_t at(CUarray array, size_t offset)
{
    return array && array->magic == MAGIC_ARRAY ? array->base + offset : 0;
}

SIM_API_PTDS(cuMemcpyHtoA_v2,
             (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount), dstArray,
             dstOffset, srcHost, ByteCount)
{
    return copy(dflt, NULL, at(dstArray, dstOffset), (uintptr_t)srcHost, ByteCount, MANNER_SYNC);
}

SIM_API_PTDS(cuMemcpyAtoH_v2, (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount),
             dstHost, srcArray, srcOffset, ByteCount)
{
    return copy(dflt, NULL, (uintptr_t)dstHost, at(srcArray, srcOffset), ByteCount, MANNER_SYNC);
}

SIM_API_PTDS(cuMemcpyDtoA_v2,
             (CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount),
             dstArray, dstOffset, srcDevice, ByteCount)
{
    return copy(dflt, NULL, at(dstArray, dstOffset), srcDevice, ByteCount, MANNER_SYNC);
}

SIM_API_PTDS(cuMemcpyAtoD_v2,
             (CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount),
             dstDevice, srcArray, srcOffset, ByteCount)
{
    return copy(dflt, NULL, dstDevice, at(srcArray, srcOffset), ByteCount, MANNER_SYNC);
}

SIM_API_PTDS(cuMemcpyAtoA_v2,
             (CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
              size_t ByteCount),
             dstArray, dstOffset, srcArray, srcOffset, ByteCount)
{
    return copy(dflt, NULL, at(dstArray, dstOffset), at(srcArray, srcOffset), ByteCount,
                MANNER_SYNC);
}

SIM_API_PTSZ(cuMemcpyHtoAAsync_v2,
             (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
              CUstream hStream),
             dstArray, dstOffset, srcHost, ByteCount, hStream)
{
    return copy(dflt, hStream, at(dstArray, dstOffset), (uintptr_t)srcHost, ByteCount,
                MANNER_ASYNC);
}

SIM_API_PTSZ(cuMemcpyAtoHAsync_v2,
             (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
              CUstream hStream),
             dstHost, srcArray, srcOffset, ByteCount, hStream)
{
    return copy(dflt, hStream, (uintptr_t)dstHost, at(srcArray, srcOffset), ByteCount,
                MANNER_ASYNC);
}
