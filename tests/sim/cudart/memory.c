/* Memory: device, pinned, registered, managed, pools, and what a pointer is. */
#include "runtime.h"

cudaError_t cudaMalloc(void **devPtr, size_t size)
{
    ENTER(cudaMalloc_v3020, devPtr, size);
    if (devPtr && size == 0) {
        *devPtr = NULL;
        LEAVE(CUDA_SUCCESS);
    }
    LEAVE(CALL(cuMemAlloc, (CUdeviceptr *)(void *)devPtr, size));
}

cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    ENTER(cudaMallocPitch_v3020, devPtr, pitch, width, height);
    LEAVE(CALL(cuMemAllocPitch, (CUdeviceptr *)(void *)devPtr, pitch, width, height, 4));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    ENTER(cudaMalloc3D_v3020, pitchedDevPtr, extent);
    if (!pitchedDevPtr)
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    CUdeviceptr address = 0;
    size_t pitch = 0;
    CUresult result =
        CALL(cuMemAllocPitch, &address, &pitch, extent.width, extent.height * extent.depth, 4);
    if (result == CUDA_SUCCESS)
        *pitchedDevPtr =
            (struct cudaPitchedPtr){(void *)(uintptr_t)address, pitch, extent.width, extent.height};
    LEAVE(result);
}

cudaError_t cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
    ENTER(cudaMallocManaged_v6000, devPtr, size, flags);
    LEAVE(CALL(cuMemAllocManaged, (CUdeviceptr *)(void *)devPtr, size, flags));
}

cudaError_t cudaFree(void *devPtr)
{
    ENTER(cudaFree_v3020, devPtr);
    LEAVE(CALL(cuMemFree, rt_dptr(devPtr)));
}

/* The runtime's pinned memory is portable: every context may use it. */
static CUresult allocate_pinned(void **pointer, size_t size, unsigned int flags)
{
    if (pointer && size == 0) {
        *pointer = NULL;
        return CUDA_SUCCESS;
    }
    return CALL(cuMemHostAlloc, pointer, size, flags | CU_MEMHOSTALLOC_PORTABLE);
}

cudaError_t cudaMallocHost(void **ptr, size_t size)
{
    ENTER(cudaMallocHost_v3020, ptr, size);
    LEAVE(allocate_pinned(ptr, size, 0));
}

cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
    ENTER(cudaHostAlloc_v3020, pHost, size, flags);
    LEAVE(allocate_pinned(pHost, size, flags));
}

cudaError_t cudaFreeHost(void *ptr)
{
    ENTER(cudaFreeHost_v3020, ptr);
    LEAVE(CALL(cuMemFreeHost, ptr));
}

cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
    ENTER(cudaHostRegister_v4000, ptr, size, flags);
    LEAVE(CALL(cuMemHostRegister, ptr, size, flags));
}

cudaError_t cudaHostUnregister(void *ptr)
{
    ENTER(cudaHostUnregister_v4000, ptr);
    LEAVE(CALL(cuMemHostUnregister, ptr));
}

cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags)
{
    ENTER(cudaHostGetDevicePointer_v3020, pDevice, pHost, flags);
    LEAVE(CALL(cuMemHostGetDevicePointer, (CUdeviceptr *)(void *)pDevice, pHost, flags));
}

cudaError_t cudaHostGetFlags(unsigned int *pFlags, void *pHost)
{
    ENTER(cudaHostGetFlags_v3020, pFlags, pHost);
    LEAVE(CALL(cuMemHostGetFlags, pFlags, pHost));
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    ENTER(cudaMemGetInfo_v3020, free, total);
    LEAVE(CALL(cuMemGetInfo, free, total));
}

cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    ENTER(cudaMemAdvise_v12020, devPtr, count, advice, location);
    CUmemLocation driver = {.type = (CUmemLocationType)location.type, .id = location.id};
    LEAVE(CALL(cuMemAdvise, rt_dptr(devPtr), count, (CUmem_advise)advice, driver));
}

cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count)
{
    ENTER(cudaMemcpyPeer_v4000, dst, dstDevice, src, srcDevice, count);
    CUcontext to, from;
    CUresult result = rt_primary(dstDevice, &to);
    if (result == CUDA_SUCCESS)
        result = rt_primary(srcDevice, &from);
    if (result == CUDA_SUCCESS)
        result = CALL(cuMemcpyPeer, rt_dptr(dst), to, rt_dptr(src), from, count);
    LEAVE(result);
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
                                size_t count, cudaStream_t stream)
{
    ENTER(cudaMemcpyPeerAsync_v4000, dst, dstDevice, src, srcDevice, count, stream);
    CUcontext to, from;
    CUresult result = rt_primary(dstDevice, &to);
    if (result == CUDA_SUCCESS)
        result = rt_primary(srcDevice, &from);
    if (result == CUDA_SUCCESS)
        result = CALL(cuMemcpyPeerAsync, rt_dptr(dst), to, rt_dptr(src), from, count, stream);
    LEAVE(result);
}

static enum cudaMemoryType memory_type(CUmemorytype type, int is_managed)
{
    if (is_managed)
        return cudaMemoryTypeManaged;
    if (type == CU_MEMORYTYPE_HOST)
        return cudaMemoryTypeHost;
    return type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
    ENTER(cudaPointerGetAttributes_v4000, attributes, ptr);
    if (!attributes)
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    CUmemorytype type = 0;
    int is_managed = 0, device = 0;
    void *on_device = NULL, *on_host = NULL;
    CUpointer_attribute asked[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *answers[] = {&type, &is_managed, &device, &on_device, &on_host};
    CUresult result =
        CALL(cuPointerGetAttributes, sizeof asked / sizeof *asked, asked, answers, rt_dptr(ptr));
    if (result != CUDA_SUCCESS)
        LEAVE(result);
    *attributes = (struct cudaPointerAttributes){
        .type = memory_type(type, is_managed),
        .device = device,
        .devicePointer = on_device,
        .hostPointer = on_host,
    };
    if (attributes->type == cudaMemoryTypeUnregistered) {
        attributes->device = cudaInvalidDeviceId;
        attributes->hostPointer = (void *)(uintptr_t)ptr;
    }
    LEAVE(CUDA_SUCCESS);
}

/* Pools. */

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)
{
    ENTER(cudaDeviceGetDefaultMemPool_v11020, memPool, device);
    LEAVE(CALL(cuDeviceGetDefaultMemPool, memPool, device));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device)
{
    ENTER(cudaDeviceGetMemPool_v11020, memPool, device);
    LEAVE(CALL(cuDeviceGetMemPool, memPool, device));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)
{
    ENTER(cudaDeviceSetMemPool_v11020, device, memPool);
    LEAVE(CALL(cuDeviceSetMemPool, device, memPool));
}

_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "pool properties");

cudaError_t cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps)
{
    ENTER(cudaMemPoolCreate_v11020, memPool, poolProps);
    LEAVE(CALL(cuMemPoolCreate, memPool, (const CUmemPoolProps *)(const void *)poolProps));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool)
{
    ENTER(cudaMemPoolDestroy_v11020, memPool);
    LEAVE(CALL(cuMemPoolDestroy, memPool));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)
{
    ENTER(cudaMemPoolTrimTo_v11020, memPool, minBytesToKeep);
    LEAVE(CALL(cuMemPoolTrimTo, memPool, minBytesToKeep));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    ENTER(cudaMemPoolSetAttribute_v11020, memPool, attr, value);
    LEAVE(CALL(cuMemPoolSetAttribute, memPool, (CUmemPool_attribute)attr, value));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    ENTER(cudaMemPoolGetAttribute_v11020, memPool, attr, value);
    LEAVE(CALL(cuMemPoolGetAttribute, memPool, (CUmemPool_attribute)attr, value));
}

_Static_assert(sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc), "access descriptions");

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList,
                                 size_t count)
{
    ENTER(cudaMemPoolSetAccess_v11020, memPool, descList, count);
    LEAVE(
        CALL(cuMemPoolSetAccess, memPool, (const CUmemAccessDesc *)(const void *)descList, count));
}
