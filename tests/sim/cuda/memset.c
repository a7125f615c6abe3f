/* Memsets. They return before the device has acted, unless synchronous ones write host or managed
 * memory. */
#include "api.h"
#include "capture.h"
#include "copy.h"
#include "streams.h"

CUresult sim_fill_bind_locked(struct sim_fill *fill, bool *waits)
{
    struct sim_range range;
    if (fill->width == 0 || fill->height == 0) {
        *waits = false;
        return CUDA_SUCCESS;
    }
    size_t extent = (fill->height - 1) * fill->pitch + fill->width * fill->element;
    sim_memory_find_locked(fill->dst, &range);
    bool reachable = range.kind != MEMORY_INVALID && !range.inaccessible && fill->dst &&
                     (range.kind != MEMORY_PAGEABLE || sim_options.pageable_access);
    if (!reachable || fill->dst % fill->element != 0 ||
        (range.kind != MEMORY_PAGEABLE && extent > range.size - (fill->dst - range.base)))
        return CUDA_ERROR_INVALID_VALUE;
    *waits = sim_is_waited_for(&range);
    fill->dst = sim_device_view(&range, fill->dst, &fill->access);
    fill->mapped = range.mapped;
    return CUDA_SUCCESS;
}

static CUresult submit(CUstream dflt, CUstream handle, const struct sim_fill *fill, bool sync)
{
    struct sim_work work = {.kind = WORK_FILL, .fill = *fill};
    CUstream stream;
    bool waits = false;
    uint64_t seq;
    sim_lock();
    CUresult result = sim_stream_enter_locked(handle, dflt, &stream);
    if (result == CUDA_SUCCESS && stream->capture) {
        result = sync ? sim_capture_wait_locked(stream)
                      : sim_capture_add_locked(stream, CU_GRAPH_NODE_TYPE_MEMSET, &work, NULL);
    } else if (result == CUDA_SUCCESS) {
        result = sim_fill_bind_locked(&work.fill, &waits);
        bool empty = fill->width == 0 || fill->height == 0;
        if (result == CUDA_SUCCESS && !empty)
            result = sim_stream_work_locked(stream, &work, &seq);
        if (result == CUDA_SUCCESS && !empty && sync && waits)
            sim_stream_wait_locked(stream, seq);
    }
    sim_unlock();
    return result;
}

static struct sim_fill fill(CUdeviceptr dst, size_t pitch, unsigned element, uint32_t value,
                            size_t width, size_t height)
{
    return (struct sim_fill){.dst = dst,
                             .width = width,
                             .height = height,
                             .pitch = pitch,
                             .element = element,
                             .value = value};
}

#define FLAT(symbol, type, element)                                                                \
    SIM_API_PTDS(symbol##_v2, (CUdeviceptr dstDevice, type value, size_t N), dstDevice, value, N)  \
    {                                                                                              \
        struct sim_fill f = fill(dstDevice, 0, element, value, N, 1);                              \
        return submit(dflt, NULL, &f, true);                                                       \
    }                                                                                              \
    SIM_API_PTSZ(symbol##Async, (CUdeviceptr dstDevice, type value, size_t N, CUstream hStream),   \
                 dstDevice, value, N, hStream)                                                     \
    {                                                                                              \
        struct sim_fill f = fill(dstDevice, 0, element, value, N, 1);                              \
        return submit(dflt, hStream, &f, false);                                                   \
    }

FLAT(cuMemsetD8, unsigned char, 1)
FLAT(cuMemsetD16, unsigned short, 2)
FLAT(cuMemsetD32, unsigned int, 4)

#define PITCHED(symbol, type, element)                                                             \
    SIM_API_PTDS(                                                                                  \
        symbol##_v2,                                                                               \
        (CUdeviceptr dstDevice, size_t dstPitch, type value, size_t Width, size_t Height),         \
        dstDevice, dstPitch, value, Width, Height)                                                 \
    {                                                                                              \
        struct sim_fill f = fill(dstDevice, dstPitch, element, value, Width, Height);              \
        return submit(dflt, NULL, &f, true);                                                       \
    }                                                                                              \
    SIM_API_PTSZ(symbol##Async,                                                                    \
                 (CUdeviceptr dstDevice, size_t dstPitch, type value, size_t Width, size_t Height, \
                  CUstream hStream),                                                               \
                 dstDevice, dstPitch, value, Width, Height, hStream)                               \
    {                                                                                              \
        struct sim_fill f = fill(dstDevice, dstPitch, element, value, Width, Height);              \
        return submit(dflt, hStream, &f, false);                                                   \
    }

PITCHED(cuMemsetD2D8, unsigned char, 1)
PITCHED(cuMemsetD2D16, unsigned short, 2)
PITCHED(cuMemsetD2D32, unsigned int, 4)
