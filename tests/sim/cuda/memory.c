/* Allocating, freeing, registering. Freeing and unregistering wait for the whole device. */
#include "memory.h"

#include "api.h"
#include "capture.h"
#include "engine.h"
#include "graph_memory.h"
#include "virtual.h"

#include <string.h>

#define PITCH ((size_t)512)

/* The current context, with the lock held and the capture rules passed. */
static CUresult enter_locked(CUcontext *context)
{
    *context = sim_context_current();
    if (sim_fault)
        return sim_fault;
    return sim_context_valid_locked(*context) ? sim_capture_unsafe_locked()
                                              : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult allocate(enum sim_memory_kind kind, size_t size, unsigned flags, uintptr_t *address)
{
    CUcontext context;
    if (size == 0)
        return sim_capture_mistaken();
    sim_lock();
    CUresult result = enter_locked(&context);
    if (result == CUDA_SUCCESS) {
        struct sim_range like = {
            .flags = flags, .device = context->device, .context = sim_context_home_locked(context)};
        *address = sim_memory_alloc_locked(kind, size, &like);
        result = *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_unlock();
    return result;
}

static CUresult allocate_device(enum sim_memory_kind kind, CUdeviceptr *dptr, size_t size,
                                unsigned flags)
{
    uintptr_t address = 0;
    CUresult result = dptr ? allocate(kind, size, flags, &address) : sim_capture_mistaken();
    if (result == CUDA_SUCCESS)
        *dptr = address;
    return result;
}

static CUresult allocate_host(void **pp, size_t size, unsigned flags)
{
    uintptr_t address = 0;
    CUresult result = pp ? allocate(MEMORY_PINNED, size, flags, &address) : sim_capture_mistaken();
    if (result == CUDA_SUCCESS)
        *pp = (void *)address;
    return result;
}

SIM_API(cuMemAlloc_v2, (CUdeviceptr * dptr, size_t bytesize), dptr, bytesize)
{
    return allocate_device(MEMORY_DEVICE, dptr, bytesize, 0);
}

SIM_API(cuMemAllocPitch_v2,
        (CUdeviceptr * dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
         unsigned int ElementSizeBytes),
        dptr, pPitch, WidthInBytes, Height, ElementSizeBytes)
{
    if (!pPitch || (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16))
        return CUDA_ERROR_INVALID_VALUE;
    *pPitch = (WidthInBytes + PITCH - 1) & ~(PITCH - 1);
    return allocate_device(MEMORY_DEVICE, dptr, *pPitch * Height, 0);
}

SIM_API(cuMemAllocManaged, (CUdeviceptr * dptr, size_t bytesize, unsigned int flags), dptr,
        bytesize, flags)
{
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate_device(MEMORY_MANAGED, dptr, bytesize, flags);
}

SIM_API(cuMemAllocHost_v2, (void **pp, size_t bytesize), pp, bytesize)
{
    return allocate_host(pp, bytesize, 0);
}

SIM_API(cuMemHostAlloc, (void **pp, size_t bytesize, unsigned int Flags), pp, bytesize, Flags)
{
    if (Flags & ~7u)
        return sim_capture_mistaken();
    return allocate_host(pp, bytesize, Flags);
}

enum { LEFT_BYTES = 16 << 20 };

/* A driver unmaps managed memory. Here a look at it that comes too late finds something else: of a
 * large block, in its first bytes. */
static void scribble(const struct sim_range *range)
{
    if (range->kind == MEMORY_MANAGED)
        memset((void *)(range->base + range->alias), 0xFD,
               range->size < LEFT_BYTES ? range->size : LEFT_BYTES);
}

/* Checks that the address is the start of such memory, before and after the wait for the device:
 * another thread may free it meanwhile. To free nothing waits for nothing, and breaks a capture.
 * Memory of a pool is given back at once, whatever is in flight. */
static CUresult free_locked(uintptr_t address, bool host)
{
    CUcontext context;
    if (!address)
        return sim_fault ? sim_fault : sim_capture_unsafe_locked(); /* without a context, too */
    CUresult result = enter_locked(&context);
    for (int pass = 0; pass < 2 && result == CUDA_SUCCESS; pass++) {
        struct sim_range range;
        sim_memory_find_locked(address, &range);
        bool right_kind = host ? range.kind == MEMORY_PINNED
                               : range.kind == MEMORY_DEVICE || range.kind == MEMORY_MANAGED;
        right_kind &= !range.mapped || range.shared;
        if (!right_kind || range.base != address) {
            result = CUDA_ERROR_INVALID_VALUE;
        } else if (pass == 0) {
            if (!range.pool)
                sim_device_wait_locked(range.device, NULL);
            result = sim_fault;
        } else {
            scribble(&range);
            if (range.mapped)
                sim_virtual_drop_locked(address);
            else if (range.of_graph)
                sim_graph_memory_give_locked(address);
            else
                sim_memory_free_locked(address);
        }
    }
    return result;
}

SIM_API(cuMemFree_v2, (CUdeviceptr dptr), dptr)
{
    sim_lock();
    CUresult result = free_locked((uintptr_t)dptr, false);
    sim_unlock();
    return result;
}

SIM_API(cuMemFreeHost, (void *p), p)
{
    sim_lock();
    CUresult result = free_locked((uintptr_t)p, true);
    sim_unlock();
    return result;
}

static CUresult register_host(void *p, size_t bytesize, unsigned flags)
{
    CUcontext context;
    struct sim_range range;
    uintptr_t base = (uintptr_t)p;
    const unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                           CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    if (!p || bytesize == 0 || base + bytesize < base || (flags & ~known))
        return sim_capture_mistaken();
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY)
        return CUDA_ERROR_NOT_SUPPORTED;
    sim_lock();
    CUresult result = enter_locked(&context);
    if (result == CUDA_SUCCESS) {
        sim_memory_find_locked(base, &range);
        if (sim_registry_overlaps_locked(base, bytesize))
            result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
        else if (range.kind != MEMORY_PAGEABLE)
            result = CUDA_ERROR_INVALID_VALUE;
        else
            result = sim_registry_add_locked(base, bytesize, flags, context);
    }
    sim_unlock();
    return result;
}

SIM_API(cuMemHostRegister_v2, (void *p, size_t bytesize, unsigned int Flags), p, bytesize, Flags)
{
    return register_host(p, bytesize, Flags);
}

SIM_API(cuMemHostRegister, (void *p, size_t bytesize, unsigned int Flags), p, bytesize, Flags)
{
    return register_host(p, bytesize, Flags);
}

SIM_API(cuMemHostUnregister, (void *p), p)
{
    CUcontext context;
    struct sim_range range;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = enter_locked(&context);
    if (result == CUDA_SUCCESS) {
        sim_memory_find_locked((uintptr_t)p, &range);
        if (range.kind == MEMORY_PAGEABLE) {
            result = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
        } else if (range.kind != MEMORY_REGISTERED || range.base != (uintptr_t)p) {
            result = CUDA_ERROR_INVALID_VALUE;
        } else {
            sim_device_wait_locked(range.device, NULL);
            result = sim_fault ? sim_fault : sim_registry_remove_locked((uintptr_t)p);
        }
    }
    sim_unlock();
    return result;
}

/* False: the memory is neither pinned nor registered. */
static bool find_host(const void *p, struct sim_range *range)
{
    sim_lock();
    sim_memory_find_locked((uintptr_t)p, range);
    sim_unlock();
    return range->kind == MEMORY_PINNED || range->kind == MEMORY_REGISTERED;
}

SIM_API(cuMemHostGetDevicePointer_v2, (CUdeviceptr * pdptr, void *p, unsigned int Flags), pdptr, p,
        Flags)
{
    struct sim_range range;
    if (!pdptr || Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!find_host(p, &range))
        return CUDA_ERROR_INVALID_VALUE;
    *pdptr = (CUdeviceptr)p;
    return CUDA_SUCCESS;
}

SIM_API(cuMemHostGetFlags, (unsigned int *pFlags, void *p), pFlags, p)
{
    struct sim_range range;
    if (!pFlags)
        return CUDA_ERROR_INVALID_VALUE;
    if (!find_host(p, &range))
        return CUDA_ERROR_INVALID_VALUE;
    *pFlags = range.flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
}

SIM_API(cuMemGetInfo_v2, (size_t * free, size_t *total), free, total)
{
    if (!free || !total)
        return CUDA_ERROR_INVALID_VALUE;
    CUcontext context = sim_context_current();
    sim_lock();
    bool valid = sim_context_valid_locked(context);
    if (valid) {
        *total = sim_options.device_memory[context->device];
        *free = sim_budget_free_locked(context->device);
    }
    sim_unlock();
    return valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

SIM_API(cuMemGetAddressRange_v2, (CUdeviceptr * pbase, size_t *psize, CUdeviceptr dptr), pbase,
        psize, dptr)
{
    struct sim_range range;
    sim_lock();
    sim_memory_find_locked((uintptr_t)dptr, &range);
    sim_unlock();
    if (range.kind == MEMORY_PAGEABLE || range.kind == MEMORY_INVALID)
        return CUDA_ERROR_NOT_FOUND;
    if (pbase)
        *pbase = range.base;
    if (psize)
        *psize = range.size;
    return CUDA_SUCCESS;
}
