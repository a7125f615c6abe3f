/*
 * Stream-ordered allocation. A freed block is handed out again at once, whatever its stream still
 * does with it. A stream that gets it waits until that stream has freed it, as a driver has it with
 * internal dependencies; for all else that works on it, a program is safe only through an order of
 * its own.
 */
#include "api.h"
#include "capture.h"
#include "memory.h"
#include "streams.h"

#include <stdlib.h>
#include <string.h>

struct CUmemPoolHandle_st {
    uint32_t magic;
    CUdevice device;
    cuuint64_t threshold;
    size_t used, peak;
};

static struct CUmemPoolHandle_st default_pools[SIM_MAX_DEVICES];
static CUmemoryPool current_pools[SIM_MAX_DEVICES];

static bool valid_device(CUdevice device)
{
    return device >= 0 && device < sim_options.devices;
}

CUmemoryPool sim_pool_default(CUdevice device)
{
    if (!valid_device(device))
        return NULL;
    CUmemoryPool pool = &default_pools[device];
    sim_lock();
    pool->magic = MAGIC_POOL;
    pool->device = device;
    sim_unlock();
    return pool;
}

/* Outside of the captured streams these calls break a capture as the plain ones do. */
static CUresult enter_locked(CUstream handle, CUstream dflt, CUstream *stream)
{
    CUresult result = sim_stream_enter_locked(handle, dflt, stream);
    return result == CUDA_SUCCESS && !(*stream)->capture ? sim_capture_unsafe_locked() : result;
}

/* Gives the fence's reference back. */
static CUresult come_after_locked(struct sim_fence *freed, CUstream stream)
{
    bool waits =
        freed->stream && freed->stream != stream && !sim_stream_reached(freed->stream, freed->seq);
    struct sim_op *op = waits ? sim_op_new_locked() : NULL;
    bool is_fenced = op && sim_op_fence_locked(op, freed->stream, freed->seq) == 0;
    if (is_fenced) {
        op->is_wait = true;
        sim_stream_issue_locked(stream, op);
    }
    if (freed->stream)
        sim_stream_unref_locked(freed->stream);
    return waits && !is_fenced ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

/* A node has its memory from the capture on, and waits for nobody. */
static CUresult take_block_locked(CUstream stream, size_t size, const struct sim_range *like,
                                  CUdeviceptr *address)
{
    struct sim_fence freed = {NULL, 0};
    *address = like->of_graph ? sim_memory_alloc_locked(MEMORY_DEVICE, size, like)
                              : sim_memory_alloc_in_order_locked(size, like, &freed);
    return *address ? come_after_locked(&freed, stream) : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult allocate(CUdeviceptr *dptr, size_t size, CUmemoryPool pool, CUstream dflt,
                         CUstream handle)
{
    CUstream stream;
    if (!dptr || size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = enter_locked(handle, dflt, &stream);
    if (result == CUDA_SUCCESS) {
        CUdevice device = pool ? pool->device : stream->context->device;
        bool is_peers = device != stream->context->device;
        pool = pool ? pool : current_pools[device] ? current_pools[device] : &default_pools[device];
        struct sim_range like = {.device = device,
                                 .context = is_peers ? sim_context_primary_locked(device)
                                                     : stream->context,
                                 .pool = pool,
                                 .of_graph = stream->capture != NULL};
        CUgraphNode node = NULL;
        result = take_block_locked(stream, size, &like, dptr);
        if (*dptr && stream->capture)
            result = sim_capture_add_locked(stream, CU_GRAPH_NODE_TYPE_MEM_ALLOC, NULL, &node);
        if (node)
            node->params.memory = *dptr;
        if (*dptr) {
            pool->used += size;
            pool->peak = pool->used > pool->peak ? pool->used : pool->peak;
        }
    }
    sim_unlock();
    return result;
}

SIM_API_PTSZ(cuMemAllocAsync, (CUdeviceptr * dptr, size_t bytesize, CUstream hStream), dptr,
             bytesize, hStream)
{
    return allocate(dptr, bytesize, NULL, dflt, hStream);
}

SIM_API_PTSZ(cuMemAllocFromPoolAsync,
             (CUdeviceptr * dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream), dptr,
             bytesize, pool, hStream)
{
    if (!pool || pool->magic != MAGIC_POOL)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate(dptr, bytesize, pool, dflt, hStream);
}

/* What a node allocates stays the node's. */
static void give_locked(const struct sim_range *range, CUstream stream, uint64_t seq)
{
    if (range->of_graph)
        return;
    if (range->pool)
        range->pool->used -= range->size;
    sim_memory_free_in_order_locked(range->base, stream, seq);
}

SIM_API_PTSZ(cuMemFreeAsync, (CUdeviceptr dptr, CUstream hStream), dptr, hStream)
{
    CUstream stream;
    struct sim_range range;
    sim_lock();
    CUresult result = enter_locked(hStream, dflt, &stream);
    if (result == CUDA_SUCCESS) {
        sim_memory_find_locked((uintptr_t)dptr, &range);
        if (range.kind != MEMORY_DEVICE || range.base != dptr ||
            (stream->capture && !range.of_graph)) {
            result = CUDA_ERROR_INVALID_VALUE;
        } else if (stream->capture) {
            CUgraphNode node;
            result = sim_capture_add_locked(stream, CU_GRAPH_NODE_TYPE_MEM_FREE, NULL, &node);
            if (result == CUDA_SUCCESS)
                node->params.memory = dptr;
        } else {
            uint64_t seq;
            result = sim_stream_work_locked(stream, &(struct sim_work){.kind = WORK_UNSEEN}, &seq);
            if (result == CUDA_SUCCESS)
                give_locked(&range, stream, seq);
        }
    }
    sim_unlock();
    return result;
}

SIM_API(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool_out, CUdevice dev), pool_out, dev)
{
    if (!pool_out || !valid_device(dev))
        return pool_out ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    *pool_out = sim_pool_default(dev);
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetMemPool, (CUmemoryPool * pool, CUdevice dev), pool, dev)
{
    if (!pool || !valid_device(dev))
        return pool ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    *pool = current_pools[dev];
    sim_unlock();
    *pool = *pool ? *pool : sim_pool_default(dev);
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceSetMemPool, (CUdevice dev, CUmemoryPool pool), dev, pool)
{
    if (!valid_device(dev) || !pool || pool->magic != MAGIC_POOL)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    current_pools[dev] = pool;
    sim_unlock();
    return CUDA_SUCCESS;
}

static CUresult capture_refuses(void)
{
    sim_lock();
    CUresult result = sim_capture_unsafe_locked();
    sim_unlock();
    return result;
}

SIM_API(cuMemPoolCreate, (CUmemoryPool * pool, const CUmemPoolProps *poolProps), pool, poolProps)
{
    if (!pool || !poolProps || poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        !valid_device(poolProps->location.id))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult unsafe = capture_refuses();
    CUmemoryPool made = unsafe ? NULL : calloc(1, sizeof *made);
    if (!made)
        return unsafe ? unsafe : CUDA_ERROR_OUT_OF_MEMORY;
    made->magic = MAGIC_POOL;
    made->device = poolProps->location.id;
    *pool = made;
    return CUDA_SUCCESS;
}

/* Blocks may outlive their pool, so its memory stays. */
SIM_API(cuMemPoolDestroy, (CUmemoryPool pool), pool)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    if (pool && pool->magic == MAGIC_POOL && pool != &default_pools[pool->device]) {
        pool->magic = 0;
        if (current_pools[pool->device] == pool)
            current_pools[pool->device] = NULL;
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

SIM_API(cuMemPoolTrimTo, (CUmemoryPool pool, size_t minBytesToKeep), pool, minBytesToKeep)
{
    (void)minBytesToKeep;
    return pool && pool->magic == MAGIC_POOL ? capture_refuses() : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute attr, void *value), pool,
        attr, value)
{
    if (!pool || pool->magic != MAGIC_POOL || !value)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        memcpy(&pool->threshold, value, sizeof pool->threshold);
    else if (attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        pool->peak = pool->used;
    sim_unlock();
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolGetAttribute, (CUmemoryPool pool, CUmemPool_attribute attr, void *value), pool,
        attr, value)
{
    if (!pool || pool->magic != MAGIC_POOL || !value)
        return CUDA_ERROR_INVALID_VALUE;
    cuuint64_t wide = 0;
    int narrow = 1; /* the three kinds of reuse are always on */
    bool is_narrow = attr >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
                     attr <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
    sim_lock();
    switch (attr) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        wide = pool->threshold;
        break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        wide = pool->used;
        break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        wide = pool->peak;
        break;
    default:
        break;
    }
    sim_unlock();
    if (is_narrow)
        memcpy(value, &narrow, sizeof narrow);
    else
        memcpy(value, &wide, sizeof wide);
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolSetAccess, (CUmemoryPool pool, const CUmemAccessDesc *map, size_t count), pool,
        map, count)
{
    return pool && pool->magic == MAGIC_POOL && (map || count == 0) ? CUDA_SUCCESS
                                                                    : CUDA_ERROR_INVALID_VALUE;
}
