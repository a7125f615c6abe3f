/* What is known about an address. */
#include "api.h"
#include "capture.h"
#include "memory.h"

#include <string.h>

static CUmemorytype type_of(const struct sim_range *range)
{
    switch (range->kind) {
    case MEMORY_DEVICE:
    case MEMORY_MANAGED:
        return CU_MEMORYTYPE_DEVICE;
    case MEMORY_PINNED:
    case MEMORY_REGISTERED:
        return CU_MEMORYTYPE_HOST;
    default:
        return (CUmemorytype)0;
    }
}

static bool known(const struct sim_range *range)
{
    return range->kind != MEMORY_PAGEABLE && range->kind != MEMORY_INVALID;
}

/* Of what is mapped: all that was reserved with it. */
static uintptr_t outer_base(const struct sim_range *range)
{
    return range->outer_size && !range->shared ? range->outer_base : range->base;
}

static size_t outer_size(const struct sim_range *range)
{
    return range->outer_size && !range->shared ? range->outer_size : range->size;
}

#define STORE(type, value)                                                                         \
    do {                                                                                           \
        type stored_ = (value);                                                                    \
        memcpy(data, &stored_, sizeof stored_);                                                    \
    } while (0)

/* Memory that is not known answers with zeros. */
static CUresult get(void *data, CUpointer_attribute attribute, CUdeviceptr address,
                    const struct sim_range *range)
{
    bool is_known = known(range);
    bool host = range->kind == MEMORY_PINNED || range->kind == MEMORY_REGISTERED ||
                range->kind == MEMORY_MANAGED;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        STORE(CUcontext, is_known ? range->context : NULL);
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        STORE(CUmemorytype, type_of(range));
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        STORE(CUdeviceptr, is_known ? address : 0);
        break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        STORE(CUdeviceptr, host || !is_known ? address : 0);
        break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        STORE(unsigned long long, is_known ? range->id : 0);
        break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        STORE(int, 0);
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        STORE(int, range->kind == MEMORY_MANAGED);
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        STORE(int, is_known ? range->device : -2);
        break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        STORE(int, 0);
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        STORE(uintptr_t, is_known ? outer_base(range) : 0);
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        STORE(size_t, is_known ? outer_size(range) : 0);
        break;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        STORE(int, is_known);
        break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        STORE(unsigned long long, 0);
        break;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        STORE(int, 0);
        break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        STORE(int, is_known ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
                            : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE);
        break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        STORE(CUmemoryPool, is_known ? range->pool : NULL);
        break;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

SIM_API(cuPointerGetAttribute, (void *data, CUpointer_attribute attribute, CUdeviceptr ptr), data,
        attribute, ptr)
{
    struct sim_range range;
    if (!data)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_context_current())
        return CUDA_ERROR_INVALID_CONTEXT;
    sim_lock();
    sim_memory_find_locked((uintptr_t)ptr, &range);
    sim_unlock();
    return known(&range) ? get(data, attribute, ptr, &range) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuPointerGetAttributes,
        (unsigned int numAttributes, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr),
        numAttributes, attributes, data, ptr)
{
    struct sim_range range;
    CUresult result = CUDA_SUCCESS;
    if (!attributes || !data || numAttributes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_context_current())
        return CUDA_ERROR_INVALID_CONTEXT;
    sim_lock();
    sim_memory_find_locked((uintptr_t)ptr, &range);
    sim_unlock();
    for (unsigned i = 0; i < numAttributes && result == CUDA_SUCCESS; i++)
        result = data[i] ? get(data[i], attributes[i], ptr, &range) : CUDA_ERROR_INVALID_VALUE;
    return result;
}

SIM_API(cuPointerSetAttribute, (const void *value, CUpointer_attribute attribute, CUdeviceptr ptr),
        value, attribute, ptr)
{
    struct sim_range range;
    SIM_REFUSED_IN_A_CAPTURE();
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    sim_memory_find_locked((uintptr_t)ptr, &range);
    sim_unlock();
    return known(&range) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
