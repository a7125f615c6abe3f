/* Multicast objects: addresses of several devices' memory at once. Here one is memory of its own,
 * which stands for what is bound to it. No driver was asked:
 * the rules are those of CUDA's documentation. */
#include "api.h"
#include "capture.h"
#include "virtual.h"

static CUresult check_prop(const CUmulticastObjectProp *prop)
{
    bool is_good = prop && prop->numDevices > 0 &&
                   prop->numDevices <= (unsigned)sim_options.devices && prop->size > 0 &&
                   prop->flags == 0;
    return is_good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuMulticastGetGranularity,
        (size_t * granularity, const CUmulticastObjectProp *prop,
         CUmulticastGranularity_flags option),
        granularity, prop, option)
{
    if (!granularity || (unsigned)option > CU_MULTICAST_GRANULARITY_RECOMMENDED)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check_prop(prop);
    if (result == CUDA_SUCCESS)
        *granularity = SIM_GRANULE;
    return result;
}

SIM_API(cuMulticastCreate,
        (CUmemGenericAllocationHandle * mcHandle, const CUmulticastObjectProp *prop), mcHandle,
        prop)
{
    CUresult result = mcHandle ? check_prop(prop) : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS || prop->size % SIM_GRANULE)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    struct sim_physical *made = sim_physical_multicast_locked(prop->size, prop->numDevices);
    sim_unlock();
    if (made)
        *mcHandle = sim_physical_handle(made);
    return made ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static struct sim_physical *multicast_of_locked(CUmemGenericAllocationHandle handle)
{
    struct sim_physical *physical = sim_physical_of_locked(handle);
    return physical && physical->multicast ? physical : NULL;
}

SIM_API(cuMulticastAddDevice, (CUmemGenericAllocationHandle mcHandle, CUdevice dev), mcHandle, dev)
{
    if (dev < 0 || dev >= sim_options.devices)
        return CUDA_ERROR_INVALID_DEVICE;
    sim_lock();
    struct sim_physical *multicast = multicast_of_locked(mcHandle);
    unsigned bit = 1U << dev;
    bool is_new = multicast && !(multicast->devices & bit) && multicast->missing > 0;
    if (is_new) {
        multicast->devices |= bit;
        multicast->missing--;
    }
    sim_unlock();
    return is_new ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Whole granules of it, once all of its devices were added. */
static CUresult check_range_locked(CUmemGenericAllocationHandle handle, size_t offset, size_t size)
{
    const struct sim_physical *multicast = multicast_of_locked(handle);
    if (!multicast || size == 0 || (offset | size) % SIM_GRANULE || offset > multicast->size ||
        size > multicast->size - offset)
        return CUDA_ERROR_INVALID_VALUE;
    return multicast->missing ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS;
}

static CUresult bind_memory(CUmemGenericAllocationHandle multicast, size_t offset,
                            CUmemGenericAllocationHandle memory, size_t memory_offset, size_t size,
                            unsigned long long flags)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    const struct sim_physical *physical = sim_physical_of_locked(memory);
    bool fits = physical && !physical->multicast && memory_offset % SIM_GRANULE == 0 &&
                memory_offset <= physical->size && size <= physical->size - memory_offset;
    CUresult result = fits ? check_range_locked(multicast, offset, size) : CUDA_ERROR_INVALID_VALUE;
    sim_unlock();
    return result;
}

static CUresult bind_address(CUmemGenericAllocationHandle multicast, size_t offset,
                             CUdeviceptr memory, size_t size, unsigned long long flags)
{
    struct sim_range range;
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    sim_memory_find_locked((uintptr_t)memory, &range);
    bool fits = range.kind == MEMORY_DEVICE && memory % SIM_GRANULE == 0 &&
                size <= range.size - (memory - range.base);
    CUresult result = fits ? check_range_locked(multicast, offset, size) : CUDA_ERROR_INVALID_VALUE;
    sim_unlock();
    return result;
}

SIM_API(cuMulticastBindMem,
        (CUmemGenericAllocationHandle mcHandle, size_t mcOffset,
         CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size,
         unsigned long long flags),
        mcHandle, mcOffset, memHandle, memOffset, size, flags)
{
    return bind_memory(mcHandle, mcOffset, memHandle, memOffset, size, flags);
}

SIM_API(cuMulticastBindMem_v2,
        (CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset,
         CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size,
         unsigned long long flags),
        mcHandle, dev, mcOffset, memHandle, memOffset, size, flags)
{
    return dev < 0 || dev >= sim_options.devices
               ? CUDA_ERROR_INVALID_DEVICE
               : bind_memory(mcHandle, mcOffset, memHandle, memOffset, size, flags);
}

SIM_API(cuMulticastBindAddr,
        (CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUdeviceptr memptr, size_t size,
         unsigned long long flags),
        mcHandle, mcOffset, memptr, size, flags)
{
    return bind_address(mcHandle, mcOffset, memptr, size, flags);
}

SIM_API(cuMulticastBindAddr_v2,
        (CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, CUdeviceptr memptr,
         size_t size, unsigned long long flags),
        mcHandle, dev, mcOffset, memptr, size, flags)
{
    return dev < 0 || dev >= sim_options.devices
               ? CUDA_ERROR_INVALID_DEVICE
               : bind_address(mcHandle, mcOffset, memptr, size, flags);
}

SIM_API(cuMulticastUnbind,
        (CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, size_t size),
        mcHandle, dev, mcOffset, size)
{
    if (dev < 0 || dev >= sim_options.devices)
        return CUDA_ERROR_INVALID_DEVICE;
    sim_lock();
    CUresult result = check_range_locked(mcHandle, mcOffset, size);
    sim_unlock();
    return result;
}
