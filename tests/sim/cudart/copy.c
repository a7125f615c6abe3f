/* The runtime's parameter blocks in the driver's terms. */
#include "runtime.h"

static CUmemorytype side_type(enum cudaMemcpyKind kind, bool is_source)
{
    switch (kind) {
    case cudaMemcpyHostToHost:
        return CU_MEMORYTYPE_HOST;
    case cudaMemcpyHostToDevice:
        return is_source ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    case cudaMemcpyDeviceToHost:
        return is_source ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    case cudaMemcpyDeviceToDevice:
        return CU_MEMORYTYPE_DEVICE;
    default:
        return CU_MEMORYTYPE_UNIFIED;
    }
}

static bool is_kind(enum cudaMemcpyKind kind)
{
    return (unsigned)kind <= cudaMemcpyDefault;
}

/* Both members are set: the driver reads the one that the memory type names. */
CUresult rt_copy2d(CUDA_MEMCPY2D *to, void *dst, size_t dpitch, const void *src, size_t spitch,
                   size_t width, size_t height, enum cudaMemcpyKind kind)
{
    if (!is_kind(kind))
        return (CUresult)cudaErrorInvalidMemcpyDirection;
    if (width > dpitch || width > spitch)
        return (CUresult)cudaErrorInvalidPitchValue;
    *to = (CUDA_MEMCPY2D){
        .srcMemoryType = side_type(kind, true),
        .srcHost = src,
        .srcDevice = rt_dptr(src),
        .srcPitch = spitch,
        .dstMemoryType = side_type(kind, false),
        .dstHost = dst,
        .dstDevice = rt_dptr(dst),
        .dstPitch = dpitch,
        .WidthInBytes = width,
        .Height = height,
    };
    return CUDA_SUCCESS;
}

CUresult rt_copy3d(const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *to)
{
    if (!from)
        return CUDA_ERROR_INVALID_VALUE;
    if (from->srcArray || from->dstArray)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!is_kind(from->kind))
        return (CUresult)cudaErrorInvalidMemcpyDirection;
    *to = (CUDA_MEMCPY3D){
        .srcXInBytes = from->srcPos.x,
        .srcY = from->srcPos.y,
        .srcZ = from->srcPos.z,
        .srcMemoryType = side_type(from->kind, true),
        .srcHost = from->srcPtr.ptr,
        .srcDevice = rt_dptr(from->srcPtr.ptr),
        .srcPitch = from->srcPtr.pitch,
        .srcHeight = from->srcPtr.ysize,
        .dstXInBytes = from->dstPos.x,
        .dstY = from->dstPos.y,
        .dstZ = from->dstPos.z,
        .dstMemoryType = side_type(from->kind, false),
        .dstHost = from->dstPtr.ptr,
        .dstDevice = rt_dptr(from->dstPtr.ptr),
        .dstPitch = from->dstPtr.pitch,
        .dstHeight = from->dstPtr.ysize,
        .WidthInBytes = from->extent.width,
        .Height = from->extent.height,
        .Depth = from->extent.depth,
    };
    return CUDA_SUCCESS;
}

static enum cudaMemcpyKind kind_of(CUmemorytype src, CUmemorytype dst)
{
    if (src == CU_MEMORYTYPE_UNIFIED || dst == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    if (src == CU_MEMORYTYPE_HOST)
        return dst == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return dst == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

static struct cudaPitchedPtr pitched(CUmemorytype type, const void *host, CUdeviceptr device,
                                     size_t pitch, size_t height)
{
    uintptr_t address = type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : (uintptr_t)device;
    return (struct cudaPitchedPtr){(void *)address, pitch, pitch, height};
}

void rt_copy3d_back(const CUDA_MEMCPY3D *from, struct cudaMemcpy3DParms *to)
{
    *to = (struct cudaMemcpy3DParms){
        .srcPos = {from->srcXInBytes, from->srcY, from->srcZ},
        .srcPtr = pitched(from->srcMemoryType, from->srcHost, from->srcDevice, from->srcPitch,
                          from->srcHeight),
        .dstPos = {from->dstXInBytes, from->dstY, from->dstZ},
        .dstPtr = pitched(from->dstMemoryType, from->dstHost, from->dstDevice, from->dstPitch,
                          from->dstHeight),
        .extent = {from->WidthInBytes, from->Height, from->Depth},
        .kind = kind_of(from->srcMemoryType, from->dstMemoryType),
    };
}

CUresult rt_copy3d_peer(const struct cudaMemcpy3DPeerParms *from, CUDA_MEMCPY3D_PEER *to)
{
    if (!from)
        return CUDA_ERROR_INVALID_VALUE;
    if (from->srcArray || from->dstArray)
        return CUDA_ERROR_NOT_SUPPORTED;
    *to = (CUDA_MEMCPY3D_PEER){
        .srcXInBytes = from->srcPos.x,
        .srcY = from->srcPos.y,
        .srcZ = from->srcPos.z,
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = rt_dptr(from->srcPtr.ptr),
        .srcPitch = from->srcPtr.pitch,
        .srcHeight = from->srcPtr.ysize,
        .dstXInBytes = from->dstPos.x,
        .dstY = from->dstPos.y,
        .dstZ = from->dstPos.z,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = rt_dptr(from->dstPtr.ptr),
        .dstPitch = from->dstPtr.pitch,
        .dstHeight = from->dstPtr.ysize,
        .WidthInBytes = from->extent.width,
        .Height = from->extent.height,
        .Depth = from->extent.depth,
    };
    CUresult result = rt_primary(from->srcDevice, &to->srcContext);
    return result == CUDA_SUCCESS ? rt_primary(from->dstDevice, &to->dstContext) : result;
}

CUresult rt_row(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                CUDA_MEMCPY3D *to)
{
    struct cudaMemcpy3DParms params = {
        .srcPtr = {(void *)(uintptr_t)src, 0, count, 1},
        .dstPtr = {dst, 0, count, 1},
        .extent = {count, 1, 1},
        .kind = kind,
    };
    return rt_copy3d(&params, to);
}

CUDA_MEMSET_NODE_PARAMS rt_fill(const struct cudaMemsetParams *from)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = rt_dptr(from->dst),
        .pitch = from->pitch,
        .value = from->value,
        .elementSize = from->elementSize,
        .width = from->width,
        .height = from->height,
    };
}

CUresult rt_kernel(const struct cudaKernelNodeParams *from, CUDA_KERNEL_NODE_PARAMS *to)
{
    *to = (CUDA_KERNEL_NODE_PARAMS){
        .gridDimX = from->gridDim.x,
        .gridDimY = from->gridDim.y,
        .gridDimZ = from->gridDim.z,
        .blockDimX = from->blockDim.x,
        .blockDimY = from->blockDim.y,
        .blockDimZ = from->blockDim.z,
        .sharedMemBytes = from->sharedMemBytes,
        .kernelParams = from->kernelParams,
        .extra = from->extra,
    };
    return rt_function(from->func, &to->func);
}
