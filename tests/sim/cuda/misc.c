/* Functions that programs call on their way to something else. */
#include "api.h"
#include "capture.h"
#include "memory.h"

#include <string.h>

/* Tables of undocumented functions: there are none (../README.md, NVIDIA's runtimes). */
SIM_API_EARLY(cuGetExportTable, (const void **ppExportTable, const CUuuid *pExportTableId),
              ppExportTable, pExportTableId)
{
    (void)pExportTableId;
    if (ppExportTable)
        *ppExportTable = NULL;
    return CUDA_ERROR_NOT_SUPPORTED;
}

SIM_API(cuDeviceGetLuid, (char *luid, unsigned int *deviceNodeMask, CUdevice dev), luid,
        deviceNodeMask, dev)
{
    (void)luid, (void)deviceNodeMask, (void)dev;
    return CUDA_ERROR_NOT_SUPPORTED; /* as on Linux */
}

SIM_API(cuDeviceGetExecAffinitySupport, (int *pi, CUexecAffinityType type, CUdevice dev), pi, type,
        dev)
{
    (void)type, (void)dev;
    if (!pi)
        return CUDA_ERROR_INVALID_VALUE;
    *pi = 0;
    return CUDA_SUCCESS;
}

SIM_API_VOID(cuCtxResetPersistingL2Cache)
{
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetSharedMemConfig, (CUsharedconfig * pConfig), pConfig)
{
    if (!pConfig)
        return CUDA_ERROR_INVALID_VALUE;
    *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
}

SIM_API(cuCtxSetSharedMemConfig, (CUsharedconfig config), config)
{
    (void)config;
    SIM_REFUSED_IN_A_CAPTURE();
    return CUDA_SUCCESS;
}

SIM_API(cuMemGetDefaultMemPool,
        (CUmemoryPool * pool_out, CUmemLocation *location, CUmemAllocationType type), pool_out,
        location, type)
{
    if (!pool_out || !location || type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    *pool_out = sim_pool_default(location->id);
    return *pool_out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

SIM_API(cuMemRangeGetAttribute,
        (void *data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr,
         size_t count),
        data, dataSize, attribute, devPtr, count)
{
    struct sim_range range;
    sim_lock();
    sim_memory_find_locked((uintptr_t)devPtr, &range);
    sim_unlock();
    if (!data || dataSize == 0 || count == 0 || range.kind != MEMORY_MANAGED)
        return CUDA_ERROR_INVALID_VALUE;
    memset(data, 0, dataSize);
    if (attribute != CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY && dataSize >= sizeof(int)) {
        const int invalid = CU_DEVICE_INVALID; /* no preference, never prefetched */
        memcpy(data, &invalid, sizeof invalid);
    }
    return CUDA_SUCCESS;
}

SIM_API(cuOccupancyMaxPotentialBlockSize,
        (int *minGridSize, int *blockSize, CUfunction func,
         CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit),
        minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit)
{
    (void)blockSizeToDynamicSMemSize, (void)dynamicSMemSize;
    if (!minGridSize || !blockSize || !func)
        return CUDA_ERROR_INVALID_VALUE;
    *blockSize = blockSizeLimit > 0 && blockSizeLimit < 1024 ? blockSizeLimit : 1024;
    *minGridSize = 264;
    return CUDA_SUCCESS;
}
