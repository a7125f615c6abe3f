/* Copies in two and three dimensions, between addresses and arrays. */
#include "api.h"
#include "array.h"
#include "copy.h"

/* One side: where it starts, and its pitch and slice in bytes. */
struct side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z, pitch, height;
};

static CUresult resolve(const struct side *s, size_t width, size_t rows, uintptr_t *at,
                        size_t *pitch, size_t *slice)
{
    uintptr_t base;
    *pitch = s->pitch ? s->pitch : width;
    *slice = *pitch * (s->height ? s->height : rows);
    switch (s->type) {
    case CU_MEMORYTYPE_HOST:
        base = (uintptr_t)s->host;
        break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
        base = (uintptr_t)s->device;
        break;
    case CU_MEMORYTYPE_ARRAY:
        if (!sim_array_layout(s->array, &base, pitch, slice))
            return CUDA_ERROR_INVALID_HANDLE;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (*pitch < width || base == 0)
        return CUDA_ERROR_INVALID_VALUE;
    *at = base + s->x + s->y * *pitch + s->z * *slice;
    return CUDA_SUCCESS;
}

CUresult sim_copy_from_3d(const CUDA_MEMCPY3D *p, struct sim_copy *copy)
{
    const struct side src = {p->srcMemoryType, p->srcHost,     p->srcDevice,
                             p->srcArray,      p->srcXInBytes, p->srcY,
                             p->srcZ,          p->srcPitch,    p->srcHeight};
    const struct side dst = {p->dstMemoryType, p->dstHost,     p->dstDevice,
                             p->dstArray,      p->dstXInBytes, p->dstY,
                             p->dstZ,          p->dstPitch,    p->dstHeight};
    *copy = (struct sim_copy){
        .width = p->WidthInBytes,
        .height = p->Height,
        .depth = p->Depth,
        .src_type = p->srcMemoryType,
        .dst_type = p->dstMemoryType,
    };
    if (sim_copy_empty(copy))
        return CUDA_SUCCESS;
    CUresult result =
        resolve(&src, p->WidthInBytes, p->Height, &copy->src, &copy->src_pitch, &copy->src_slice);
    return result ? result
                  : resolve(&dst, p->WidthInBytes, p->Height, &copy->dst, &copy->dst_pitch,
                            &copy->dst_slice);
}

static CUDA_MEMCPY3D from_2d(const CUDA_MEMCPY2D *p)
{
    return (CUDA_MEMCPY3D){
        .srcXInBytes = p->srcXInBytes,
        .srcY = p->srcY,
        .srcMemoryType = p->srcMemoryType,
        .srcHost = p->srcHost,
        .srcDevice = p->srcDevice,
        .srcArray = p->srcArray,
        .srcPitch = p->srcPitch,
        .dstXInBytes = p->dstXInBytes,
        .dstY = p->dstY,
        .dstMemoryType = p->dstMemoryType,
        .dstHost = p->dstHost,
        .dstDevice = p->dstDevice,
        .dstArray = p->dstArray,
        .dstPitch = p->dstPitch,
        .WidthInBytes = p->WidthInBytes,
        .Height = p->Height,
        .Depth = 1,
    };
}

static CUDA_MEMCPY3D from_peer(const CUDA_MEMCPY3D_PEER *p)
{
    return (CUDA_MEMCPY3D){
        .srcXInBytes = p->srcXInBytes,
        .srcY = p->srcY,
        .srcZ = p->srcZ,
        .srcMemoryType = p->srcMemoryType,
        .srcHost = p->srcHost,
        .srcDevice = p->srcDevice,
        .srcArray = p->srcArray,
        .srcPitch = p->srcPitch,
        .srcHeight = p->srcHeight,
        .dstXInBytes = p->dstXInBytes,
        .dstY = p->dstY,
        .dstZ = p->dstZ,
        .dstMemoryType = p->dstMemoryType,
        .dstHost = p->dstHost,
        .dstDevice = p->dstDevice,
        .dstArray = p->dstArray,
        .dstPitch = p->dstPitch,
        .dstHeight = p->dstHeight,
        .WidthInBytes = p->WidthInBytes,
        .Height = p->Height,
        .Depth = p->Depth,
    };
}

static CUresult submit(CUstream dflt, CUstream handle, const CUDA_MEMCPY3D *p,
                       enum sim_manner manner)
{
    struct sim_copy copy;
    CUresult result = sim_copy_from_3d(p, &copy);
    return result ? result : sim_copy_submit(handle, dflt, &copy, manner);
}

SIM_API_PTDS(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *pCopy), pCopy)
{
    if (!pCopy)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D p = from_2d(pCopy);
    return submit(dflt, NULL, &p, MANNER_SYNC);
}

SIM_API_PTDS(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *pCopy), pCopy)
{
    if (!pCopy)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D p = from_2d(pCopy);
    return submit(dflt, NULL, &p, MANNER_SYNC);
}

SIM_API_PTSZ(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *pCopy, CUstream hStream), pCopy, hStream)
{
    if (!pCopy)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D p = from_2d(pCopy);
    return submit(dflt, hStream, &p, MANNER_ASYNC);
}

SIM_API_PTDS(cuMemcpy3D_v2, (const CUDA_MEMCPY3D *pCopy), pCopy)
{
    return pCopy ? submit(dflt, NULL, pCopy, MANNER_SYNC) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API_PTSZ(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *pCopy, CUstream hStream), pCopy, hStream)
{
    return pCopy ? submit(dflt, hStream, pCopy, MANNER_ASYNC) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API_PTDS(cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER *pCopy), pCopy)
{
    if (!pCopy)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D p = from_peer(pCopy);
    struct sim_copy copy;
    CUresult result = sim_copy_from_3d(&p, &copy);
    return result ? result
                  : sim_copy_submit_serialized(dflt, &copy, pCopy->dstContext, pCopy->srcContext);
}

SIM_API_PTSZ(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream), pCopy,
             hStream)
{
    if (!pCopy)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D p = from_peer(pCopy);
    return submit(dflt, hStream, &p, MANNER_ASYNC);
}
