/* Devices, their properties and limits, versions. */
#include <string.h>

#include "runtime.h"

cudaError_t cudaDriverGetVersion(int *driverVersion)
{
    ENTER_NEEDING(RT_DRIVER, cudaDriverGetVersion_v3020, driverVersion);
    LEAVE(CALL(cuDriverGetVersion, driverVersion));
}

cudaError_t cudaRuntimeGetVersion(int *runtimeVersion)
{
    ENTER_NEEDING(RT_NOTHING, cudaRuntimeGetVersion_v3020, runtimeVersion);
    if (!runtimeVersion)
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    *runtimeVersion = CUDART_VERSION;
    LEAVE(CUDA_SUCCESS);
}

cudaError_t cudaGetDeviceCount(int *count)
{
    ENTER_NEEDING(RT_DRIVER, cudaGetDeviceCount_v3020, count);
    CUresult result = CALL(cuDeviceGetCount, count);
    LEAVE(result == CUDA_SUCCESS && *count == 0 ? CUDA_ERROR_NO_DEVICE : result);
}

cudaError_t cudaSetDevice(int device)
{
    ENTER_NEEDING(RT_DRIVER, cudaSetDevice_v3020, device);
    LEAVE(rt_bind_device(device));
}

cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
    ENTER_NEEDING(RT_DRIVER, cudaInitDevice_v12000, device, deviceFlags, flags);
    CUcontext context;
    CUresult result = CUDA_SUCCESS;
    if (flags & cudaInitDeviceFlagsAreValid)
        result = CALL(cuDevicePrimaryCtxSetFlags, device, deviceFlags);
    LEAVE(result == CUDA_SUCCESS ? rt_primary(device, &context) : result);
}

cudaError_t cudaGetDevice(int *device)
{
    ENTER_NEEDING(RT_DRIVER, cudaGetDevice_v3020, device);
    LEAVE(device ? rt_device(device) : CUDA_ERROR_INVALID_VALUE);
}

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    ENTER_NEEDING(RT_DRIVER, cudaSetDeviceFlags_v3020, flags);
    int device;
    CUresult result = rt_device(&device);
    LEAVE(result == CUDA_SUCCESS ? CALL(cuDevicePrimaryCtxSetFlags, device, flags) : result);
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    ENTER_NEEDING(RT_DRIVER, cudaGetDeviceFlags_v7000, flags);
    int device, is_active;
    CUresult result = rt_device(&device);
    if (result == CUDA_SUCCESS)
        result = CALL(cuDevicePrimaryCtxGetState, device, flags, &is_active);
    LEAVE(result);
}

cudaError_t cudaDeviceSynchronize(void)
{
    RT_OPEN(cudaDeviceSynchronize_v3020, NULL, RT_CONTEXT);
    LEAVE(CALL(cuCtxSynchronize));
}

cudaError_t cudaDeviceReset(void)
{
    RT_OPEN(cudaDeviceReset_v3020, NULL, RT_DRIVER);
    LEAVE(rt_reset_device());
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    ENTER(cudaDeviceSetLimit_v3020, limit, value);
    LEAVE(CALL(cuCtxSetLimit, (CUlimit)limit, value));
}

cudaError_t cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit)
{
    ENTER(cudaDeviceGetLimit_v3020, pValue, limit);
    LEAVE(CALL(cuCtxGetLimit, pValue, (CUlimit)limit));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    ENTER(cudaDeviceGetStreamPriorityRange_v5050, leastPriority, greatestPriority);
    LEAVE(CALL(cuCtxGetStreamPriorityRange, leastPriority, greatestPriority));
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    ENTER_NEEDING(RT_DRIVER, cudaDeviceGetAttribute_v5000, value, attr, device);
    LEAVE(CALL(cuDeviceGetAttribute, value, (CUdevice_attribute)attr, device));
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    ENTER_NEEDING(RT_DRIVER, cudaDeviceGetByPCIBusId_v4010, device, pciBusId);
    LEAVE(CALL(cuDeviceGetByPCIBusId, device, pciBusId));
}

cudaError_t cudaDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    ENTER_NEEDING(RT_DRIVER, cudaDeviceGetPCIBusId_v4010, pciBusId, len, device);
    LEAVE(CALL(cuDeviceGetPCIBusId, pciBusId, len, device));
}

/* The integer properties that programs ask for, each from one attribute. */
static const struct {
    size_t offset;
    CUdevice_attribute attribute;
} int_properties[] = {
#define P(field, name)                                                                             \
    {                                                                                              \
        offsetof(struct cudaDeviceProp, field), CU_DEVICE_ATTRIBUTE_##name                         \
    }
    P(regsPerBlock, MAX_REGISTERS_PER_BLOCK),
    P(warpSize, WARP_SIZE),
    P(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK),
    P(maxThreadsDim[0], MAX_BLOCK_DIM_X),
    P(maxThreadsDim[1], MAX_BLOCK_DIM_Y),
    P(maxThreadsDim[2], MAX_BLOCK_DIM_Z),
    P(maxGridSize[0], MAX_GRID_DIM_X),
    P(maxGridSize[1], MAX_GRID_DIM_Y),
    P(maxGridSize[2], MAX_GRID_DIM_Z),
    P(major, COMPUTE_CAPABILITY_MAJOR),
    P(minor, COMPUTE_CAPABILITY_MINOR),
    P(multiProcessorCount, MULTIPROCESSOR_COUNT),
    P(integrated, INTEGRATED),
    P(canMapHostMemory, CAN_MAP_HOST_MEMORY),
    P(concurrentKernels, CONCURRENT_KERNELS),
    P(ECCEnabled, ECC_ENABLED),
    P(pciBusID, PCI_BUS_ID),
    P(pciDeviceID, PCI_DEVICE_ID),
    P(pciDomainID, PCI_DOMAIN_ID),
    P(asyncEngineCount, ASYNC_ENGINE_COUNT),
    P(unifiedAddressing, UNIFIED_ADDRESSING),
    P(memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH),
    P(l2CacheSize, L2_CACHE_SIZE),
    P(maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR),
    P(streamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED),
    P(regsPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR),
    P(managedMemory, MANAGED_MEMORY),
    P(hostNativeAtomicSupported, HOST_NATIVE_ATOMIC_SUPPORTED),
    P(pageableMemoryAccess, PAGEABLE_MEMORY_ACCESS),
    P(concurrentManagedAccess, CONCURRENT_MANAGED_ACCESS),
    P(computePreemptionSupported, COMPUTE_PREEMPTION_SUPPORTED),
    P(canUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM),
    P(cooperativeLaunch, COOPERATIVE_LAUNCH),
    P(pageableMemoryAccessUsesHostPageTables, PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES),
    P(directManagedMemAccessFromHost, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST),
    P(hostRegisterSupported, HOST_REGISTER_SUPPORTED),
    P(memoryPoolsSupported, MEMORY_POOLS_SUPPORTED),
#undef P
};

static size_t attribute_or_zero(CUdevice_attribute attribute, int device)
{
    int value = 0;
    if (CALL(cuDeviceGetAttribute, &value, attribute, device) != CUDA_SUCCESS)
        return 0;
    return (size_t)value;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    ENTER_NEEDING(RT_DRIVER, cudaGetDeviceProperties_v12000, prop, device);
    if (!prop)
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    memset(prop, 0, sizeof *prop);
    CUresult result = CALL(cuDeviceGetName, prop->name, sizeof prop->name, device);
    if (result == CUDA_SUCCESS)
        result = CALL(cuDeviceTotalMem, &prop->totalGlobalMem, device);
    if (result != CUDA_SUCCESS)
        LEAVE(result);
    (void)CALL(cuDeviceGetUuid, (CUuuid *)(void *)&prop->uuid, device);
    for (size_t i = 0; i < sizeof int_properties / sizeof *int_properties; i++)
        *(int *)(void *)((char *)prop + int_properties[i].offset) =
            (int)attribute_or_zero(int_properties[i].attribute, device);
    prop->sharedMemPerBlock =
        attribute_or_zero(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, device);
    prop->sharedMemPerMultiprocessor =
        attribute_or_zero(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, device);
    prop->sharedMemPerBlockOptin =
        attribute_or_zero(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
    prop->totalConstMem = attribute_or_zero(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, device);
    prop->memPitch = attribute_or_zero(CU_DEVICE_ATTRIBUTE_MAX_PITCH, device);
    LEAVE(CUDA_SUCCESS);
}

cudaError_t cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice)
{
    ENTER_NEEDING(RT_DRIVER, cudaDeviceCanAccessPeer_v4000, canAccessPeer, device, peerDevice);
    LEAVE(CALL(cuDeviceCanAccessPeer, canAccessPeer, device, peerDevice));
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    ENTER(cudaDeviceEnablePeerAccess_v4000, peerDevice, flags);
    CUcontext peer;
    CUresult result = rt_primary(peerDevice, &peer);
    LEAVE(result == CUDA_SUCCESS ? CALL(cuCtxEnablePeerAccess, peer, flags) : result);
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice)
{
    ENTER(cudaDeviceDisablePeerAccess_v4000, peerDevice);
    CUcontext peer;
    CUresult result = rt_primary(peerDevice, &peer);
    LEAVE(result == CUDA_SUCCESS ? CALL(cuCtxDisablePeerAccess, peer) : result);
}
