/*
 * Stream-ordered allocation. A freed block is handed out again at once, whatever its stream still
 * does with it. A stream that gets it waits until that stream has freed it, as a driver has it with
 * internal dependencies; for all else that works on it, a program is safe only through an order of
 * its own.
 */
#include "api.h"
#include "capture.h"
#include "graph_memory.h"
#include "memory.h"
#include "streams.h"
#include "virtual.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct CUmemPoolHandle_st {
    uint32_t magic;
    CUdevice device;
    cuuint64_t threshold;
    size_t used, used_high, reserved, reserved_high;
    bool host;              /* of the host's memory */
    bool imported;          /* another pool's: blocks come from there alone */
    struct sim_fence freed; /* the last free that a stream was given */
    CUmemAllocationHandleType shared_as;
    CUmemoryPool next; /* of those that were created */
};

static struct CUmemPoolHandle_st default_pools[SIM_MAX_DEVICES];
static CUmemoryPool current_pools[SIM_MAX_DEVICES];

static CUmemoryPool created;

static bool valid_device(CUdevice device)
{
    return device >= 0 && device < sim_options.devices;
}

static CUmemoryPool default_locked(CUdevice device)
{
    CUmemoryPool pool = &default_pools[device];
    pool->magic = MAGIC_POOL;
    pool->device = device;
    return pool;
}

CUmemoryPool sim_pool_default(CUdevice device)
{
    if (!valid_device(device))
        return NULL;
    sim_lock();
    CUmemoryPool pool = default_locked(device);
    sim_unlock();
    return pool;
}

/* ---- what a pool has ---- */

#define CHUNK ((size_t)32 << 20) /* by which pools grow */

static bool is_host(const CUmemLocation *location)
{
    return location->type == CU_MEM_LOCATION_TYPE_HOST ||
           location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
}

static CUdevice owner_of(const struct CUmemPoolHandle_st *pool)
{
    return pool->host ? SIM_HOST : pool->device;
}

static size_t chunks(size_t bytes)
{
    return (bytes + CHUNK - 1) & ~(CHUNK - 1);
}

bool sim_pool_take_locked(CUmemoryPool pool, size_t bytes)
{
    size_t wanted = chunks(pool->used + bytes);
    size_t more = wanted > pool->reserved ? wanted - pool->reserved : 0;
    if (wanted < bytes || !sim_budget_take_apart_locked(owner_of(pool), more))
        return false;
    pool->used += bytes;
    pool->reserved += more;
    pool->used_high = pool->used > pool->used_high ? pool->used : pool->used_high;
    pool->reserved_high =
        pool->reserved > pool->reserved_high ? pool->reserved : pool->reserved_high;
    return true;
}

void sim_pool_give_locked(CUmemoryPool pool, size_t bytes)
{
    pool->used -= bytes;
}

/* At least what is used stays. */
static void shrink_locked(CUmemoryPool pool, size_t keep)
{
    size_t least = chunks(pool->used);
    size_t kept = least > keep ? least : keep;
    if (pool->reserved <= kept)
        return;
    sim_budget_give_locked(owner_of(pool), pool->reserved - kept);
    pool->reserved = kept;
}

void sim_pools_synchronized_locked(void)
{
    for (CUdevice d = 0; d < sim_options.devices; d++)
        shrink_locked(&default_pools[d], default_pools[d].threshold);
    for (CUmemoryPool pool = created; pool; pool = pool->next)
        shrink_locked(pool, pool->threshold);
}

static void yield_locked(CUmemoryPool pool, CUdevice device)
{
    bool is_pending =
        pool->freed.stream && !sim_stream_reached(pool->freed.stream, pool->freed.seq);
    if (owner_of(pool) == device && !is_pending)
        shrink_locked(pool, 0);
}

void sim_pools_yield_locked(CUdevice device)
{
    yield_locked(&default_pools[device], device);
    for (CUmemoryPool pool = created; pool; pool = pool->next)
        yield_locked(pool, device);
}

static void note_free_locked(CUmemoryPool pool, CUstream stream, uint64_t seq)
{
    sim_stream_ref_locked(stream);
    if (pool->freed.stream)
        sim_stream_unref_locked(pool->freed.stream);
    pool->freed = (struct sim_fence){stream, seq};
}

/* ---- allocations ---- */

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
    if (like->pool && like->pool->host)
        *address = sim_memory_alloc_locked(MEMORY_PINNED, size, like);
    else
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
        pool = pool ? pool : current_pools[device] ? current_pools[device] : default_locked(device);
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
    if (!pool || pool->magic != MAGIC_POOL || pool->imported)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate(dptr, bytesize, pool, dflt, hStream);
}

/* What a node allocates stays the node's. */
static void give_locked(const struct sim_range *range, CUstream stream, uint64_t seq)
{
    if (range->mapped)
        sim_virtual_drop_locked(range->base);
    else if (range->of_graph)
        sim_graph_memory_give_locked(range->base);
    else
        sim_memory_free_in_order_locked(range->base, stream, seq);
    if (range->pool)
        note_free_locked(range->pool, stream, seq);
}

SIM_API_PTSZ(cuMemFreeAsync, (CUdeviceptr dptr, CUstream hStream), dptr, hStream)
{
    CUstream stream;
    struct sim_range range;
    sim_lock();
    CUresult result = enter_locked(hStream, dflt, &stream);
    if (result == CUDA_SUCCESS) {
        sim_memory_find_locked((uintptr_t)dptr, &range);
        bool can = range.kind == MEMORY_DEVICE || (range.kind == MEMORY_PINNED && range.pool);
        if (!can || range.base != dptr || (range.mapped && !range.shared) ||
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
    SIM_REFUSED_IN_A_CAPTURE();
    if (!valid_device(dev) || !pool || pool->magic != MAGIC_POOL)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    current_pools[dev] = pool;
    sim_unlock();
    return CUDA_SUCCESS;
}

/* Blocks may outlive their pool, so it stays in this list. */
static CUmemoryPool make_pool(CUdevice device)
{
    CUmemoryPool made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->magic = MAGIC_POOL;
    made->device = device;
    sim_lock();
    made->next = created;
    created = made;
    sim_unlock();
    return made;
}

SIM_API(cuMemPoolCreate, (CUmemoryPool * pool, const CUmemPoolProps *poolProps), pool, poolProps)
{
    SIM_REFUSED_IN_A_CAPTURE();
    if (!pool || !poolProps || poolProps->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    bool host = is_host(&poolProps->location);
    if (!host && (poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
                  !valid_device(poolProps->location.id)))
        return CUDA_ERROR_INVALID_VALUE;
    CUmemoryPool made = make_pool(host ? 0 : poolProps->location.id);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->host = host;
    made->shared_as = poolProps->handleTypes;
    *pool = made;
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolDestroy, (CUmemoryPool pool), pool)
{
    SIM_REFUSED_IN_A_CAPTURE();
    sim_lock();
    bool can = pool && pool->magic == MAGIC_POOL && pool != &default_pools[pool->device];
    if (can) {
        pool->magic = 0;
        pool->threshold = 0;
        shrink_locked(pool, 0);
        if (current_pools[pool->device] == pool)
            current_pools[pool->device] = NULL;
    }
    sim_unlock();
    return can ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuMemPoolTrimTo, (CUmemoryPool pool, size_t minBytesToKeep), pool, minBytesToKeep)
{
    SIM_REFUSED_IN_A_CAPTURE();
    if (!pool || pool->magic != MAGIC_POOL || pool->imported)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    shrink_locked(pool, minBytesToKeep);
    sim_unlock();
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute attr, void *value), pool,
        attr, value)
{
    SIM_REFUSED_IN_A_CAPTURE();
    if (!pool || pool->magic != MAGIC_POOL || !value)
        return CUDA_ERROR_INVALID_VALUE;
    cuuint64_t wide = 0;
    bool is_high =
        attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH || attr == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH;
    if (attr == CU_MEMPOOL_ATTR_USED_MEM_CURRENT || attr == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
        return CUDA_ERROR_INVALID_VALUE;
    if (is_high || attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        memcpy(&wide, value, sizeof wide);
    if (is_high && wide != 0)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        pool->threshold = wide;
    else if (attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        pool->used_high = pool->used;
    else if (attr == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
        pool->reserved_high = pool->reserved;
    sim_unlock();
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolGetAttribute, (CUmemoryPool pool, CUmemPool_attribute attr, void *value), pool,
        attr, value)
{
    SIM_REFUSED_IN_A_CAPTURE();
    if (pool && pool->magic == 0)
        abort(); /* it is gone, and the driver follows the handle */
    if (!pool || pool->magic != MAGIC_POOL || !value || pool->imported)
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
        wide = pool->used;
        break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        wide = pool->reserved;
        break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        wide = pool->used_high;
        break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        wide = pool->reserved_high;
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
    SIM_REFUSED_IN_A_CAPTURE();
    if (!pool || pool->magic != MAGIC_POOL || (!map && count))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE && map[i].location.id == pool->device)
            return CUDA_ERROR_INVALID_DEVICE; /* its own */
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolGetAccess,
        (CUmemAccess_flags * flags, CUmemoryPool memPool, CUmemLocation *location), flags, memPool,
        location)
{
    SIM_REFUSED_IN_A_CAPTURE();
    if (!flags || !memPool || memPool->magic != MAGIC_POOL || !location ||
        location->type != CU_MEM_LOCATION_TYPE_DEVICE || !valid_device(location->id))
        return CUDA_ERROR_INVALID_VALUE;
    *flags = location->id == memPool->device ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                             : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

/* ---- shared with others ---- */

/* By a file that says of which device it is. */
SIM_API(cuMemPoolExportToShareableHandle,
        (void *handle_out, CUmemoryPool pool, CUmemAllocationHandleType handleType,
         unsigned long long flags),
        handle_out, pool, handleType, flags)
{
    SIM_REFUSED_IN_A_CAPTURE();
    if (!handle_out || !pool || pool->magic != MAGIC_POOL || flags ||
        handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || !(pool->shared_as & handleType))
        return CUDA_ERROR_INVALID_VALUE;
    int file = memfd_create("sim-gpu-pool", MFD_CLOEXEC);
    if (file < 0 || write(file, &pool->device, sizeof pool->device) != sizeof pool->device)
        return CUDA_ERROR_OPERATING_SYSTEM;
    memcpy(handle_out, &file, sizeof file);
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolImportFromShareableHandle,
        (CUmemoryPool * pool_out, void *handle, CUmemAllocationHandleType handleType,
         unsigned long long flags),
        pool_out, handle, handleType, flags)
{
    CUdevice device = -1;
    SIM_REFUSED_IN_A_CAPTURE();
    if (!pool_out || flags || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        pread((int)(intptr_t)handle, &device, sizeof device, 0) != sizeof device ||
        !valid_device(device))
        return CUDA_ERROR_INVALID_VALUE;
    CUmemoryPool pool = make_pool(device);
    if (!pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pool->imported = true;
    *pool_out = pool;
    return CUDA_SUCCESS;
}

struct exported {
    pid_t pid;
    int file;
    uint64_t offset, size;
};

SIM_API(cuMemPoolExportPointer, (CUmemPoolPtrExportData * shareData_out, CUdeviceptr ptr),
        shareData_out, ptr)
{
    struct sim_range range;
    struct exported data = {.pid = getpid()};
    size_t offset = 0;
    SIM_REFUSED_IN_A_CAPTURE();
    if (!shareData_out)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    sim_memory_find_locked((uintptr_t)ptr, &range);
    bool can = range.kind == MEMORY_DEVICE && range.pool && range.pool->shared_as && !range.mapped;
    if (can) {
        data.file = sim_memory_file_locked(range.base, &offset);
        data.offset = offset;
        data.size = range.size;
    }
    sim_unlock();
    memset(shareData_out, 0, sizeof *shareData_out);
    memcpy(shareData_out, &data, sizeof data);
    return can ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuMemPoolImportPointer,
        (CUdeviceptr * ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData *shareData), ptr_out,
        pool, shareData)
{
    struct exported data;
    char path[64];
    SIM_REFUSED_IN_A_CAPTURE();
    if (!ptr_out || !pool || pool->magic != MAGIC_POOL || !pool->imported || !shareData)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&data, shareData, sizeof data);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)data.pid, data.file);
    int file = data.size ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUcontext context = sim_context_current();
    sim_lock();
    struct sim_range like = {.kind = MEMORY_DEVICE,
                             .device = pool->device,
                             .context = context,
                             .pool = pool,
                             .shared = true};
    *ptr_out = sim_virtual_share_locked(file, data.offset, data.size, &like);
    sim_unlock();
    close(file);
    return *ptr_out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
