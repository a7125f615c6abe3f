/* Hints for managed memory. Nothing migrates here: a prefetch takes its place in the stream only,
 * whatever room the device has: pages that do not fit stay on the host. A discard leaves other
 * bytes. */
#include "api.h"
#include "capture.h"
#include "copy.h"
#include "memory.h"
#include "streams.h"

static CUresult check_locked(CUdeviceptr address, size_t bytes)
{
    struct sim_range range;
    sim_memory_find_locked((uintptr_t)address, &range);
    bool allowed = range.kind == MEMORY_MANAGED ||
                   (range.kind == MEMORY_PAGEABLE && sim_options.pageable_access);
    return bytes > 0 && allowed &&
                   (range.kind == MEMORY_PAGEABLE || bytes <= range.size - (address - range.base))
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

/* A device has to be there, and to share managed memory with the host (cuda.h). */
static bool is_place(CUmemLocation location)
{
    return location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
           (location.id >= 0 && location.id < sim_options.devices && !sim_options.managed_apart);
}

static CUmemLocation location_of(CUdevice device)
{
    return device == CU_DEVICE_CPU
               ? (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST}
               : (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

static CUresult prefetch(CUstream dflt, CUstream handle, const CUdeviceptr *addresses,
                         const size_t *sizes, size_t count, const CUmemLocation *locations,
                         size_t location_count)
{
    for (size_t i = 0; i < location_count; i++)
        if (!is_place(locations[i]))
            return CUDA_ERROR_INVALID_DEVICE;
    struct sim_work mark = {.kind = WORK_KERNEL}; /* of no length, but late as any operation */
    CUstream stream;
    sim_lock();
    CUresult result = sim_stream_enter_locked(handle, dflt, &stream);
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = check_locked(addresses[i], sizes[i]);
    if (result == CUDA_SUCCESS) {
        result = stream->capture ? sim_capture_wait_locked(stream)
                                 : sim_stream_work_locked(stream, &mark, NULL);
    }
    sim_unlock();
    return result;
}

SIM_API_PTSZ(cuMemPrefetchAsync,
             (CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream), devPtr,
             count, dstDevice, hStream)
{
    CUmemLocation location = location_of(dstDevice);
    return prefetch(dflt, hStream, &devPtr, &count, 1, &location, 1);
}

SIM_API_PTSZ(cuMemPrefetchAsync_v2,
             (CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
              CUstream hStream),
             devPtr, count, location, flags, hStream)
{
    return flags ? CUDA_ERROR_INVALID_VALUE
                 : prefetch(dflt, hStream, &devPtr, &count, 1, &location, 1);
}

SIM_API_PTSZ(cuMemPrefetchBatchAsync,
             (CUdeviceptr * dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs,
              size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
              CUstream hStream),
             dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream)
{
    if (!dptrs || !sizes || count == 0 || !prefetchLocs || !prefetchLocIdxs ||
        numPrefetchLocs == 0 || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return prefetch(dflt, hStream, dptrs, sizes, count, prefetchLocs, numPrefetchLocs);
}

static CUresult discard_one_locked(CUstream stream, CUdeviceptr address, size_t bytes)
{
    struct sim_work work = {
        .kind = WORK_FILL,
        .fill = {.dst = address, .width = bytes, .height = 1, .element = 1, .value = 0xFD}};
    bool waits = false;
    CUresult result = check_locked(address, bytes);
    if (result == CUDA_SUCCESS)
        result = sim_fill_bind_locked(&work.fill, &waits);
    return result == CUDA_SUCCESS ? sim_stream_work_locked(stream, &work, NULL) : result;
}

static CUresult discard(CUstream dflt, CUstream handle, const CUdeviceptr *addresses,
                        const size_t *sizes, size_t count)
{
    CUstream stream;
    if (!addresses || !sizes || count == 0 || (handle ? handle : dflt) == CU_STREAM_LEGACY)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = sim_stream_enter_locked(handle, dflt, &stream);
    if (result == CUDA_SUCCESS && stream->capture)
        result = sim_capture_wait_locked(stream);
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = discard_one_locked(stream, addresses[i], sizes[i]);
    sim_unlock();
    return result;
}

SIM_API_PTSZ(cuMemDiscardBatchAsync,
             (CUdeviceptr * dptrs, size_t *sizes, size_t count, unsigned long long flags,
              CUstream hStream),
             dptrs, sizes, count, flags, hStream)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : discard(dflt, hStream, dptrs, sizes, count);
}

SIM_API_PTSZ(cuMemDiscardAndPrefetchBatchAsync,
             (CUdeviceptr * dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs,
              size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
              CUstream hStream),
             dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream)
{
    if (!prefetchLocs || !prefetchLocIdxs || numPrefetchLocs == 0 || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return discard(dflt, hStream, dptrs, sizes, count);
}

static CUresult advise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                       CUmemLocation location)
{
    SIM_REFUSED_IN_A_CAPTURE();
    bool names =
        advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
    if (names && !is_place(location))
        return CUDA_ERROR_INVALID_DEVICE;
    sim_lock();
    CUresult result = check_locked(address, bytes);
    sim_unlock();
    return result;
}

SIM_API(cuMemAdvise, (CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device),
        devPtr, count, advice, device)
{
    return advise(devPtr, count, advice, location_of(device));
}

SIM_API(cuMemAdvise_v2,
        (CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location), devPtr,
        count, advice, location)
{
    return advise(devPtr, count, advice, location);
}
