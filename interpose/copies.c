/* Asynchronous copies, memsets and prefetches. */
#include "interpose/detours.h"
#include "interpose/issue.h"
#include "interpose/process.h"
#include "interpose/wrap.h"

#include "track/poison.h"

static const void *host(CUdeviceptr address)
{
    return (const void *)(uintptr_t)address;
}

/* The last arguments name the host ranges that the operation may use; `arguments` are the call's,
 * in which SOURCE(address) is what the device is to read for a plain host source. */
#define SOURCE(address) sc_issue_source(&issue, address)

#define ISSUE(symbol, parameters, arguments, ...)                                                  \
    SC_DEFINE2(symbol, _ptsz, parameters, struct sc_detour detour; struct sc_issue issue;          \
               sc_detour_begin(&detour, API, SC_SITE(), &hStream, per_thread);                     \
               sc_issue_begin(&issue, API, hStream, per_thread, SC_SITE());                        \
               __VA_ARGS__ sc_issue_ready(&issue);                                                 \
               return sc_detour_end(&detour, sc_issue_end(&issue, REAL arguments));)

ISSUE(cuMemcpyHtoDAsync_v2, (CUdeviceptr dst, const void *src, size_t bytes, CUstream hStream),
      (dst, SOURCE(src), bytes, hStream), sc_issue_host(&issue, SC_H2D, src, bytes);)

ISSUE(cuMemcpyDtoHAsync_v2, (void *dst, CUdeviceptr src, size_t bytes, CUstream hStream),
      (dst, src, bytes, hStream), sc_issue_host(&issue, SC_D2H, dst, bytes);)

ISSUE(cuMemcpyHtoAAsync_v2,
      (CUarray dst, size_t offset, const void *src, size_t bytes, CUstream hStream),
      (dst, offset, SOURCE(src), bytes, hStream), sc_issue_host(&issue, SC_H2D, src, bytes);)

ISSUE(cuMemcpyAtoHAsync_v2, (void *dst, CUarray src, size_t offset, size_t bytes, CUstream hStream),
      (dst, src, offset, bytes, hStream), sc_issue_host(&issue, SC_D2H, dst, bytes);)

/* Unified addresses: either side may be host memory. Between two host addresses, and to a pageable
 * one, the driver completes the copy before it returns (docs/driver.md, Q10). */
static void either_side(struct sc_issue *issue, CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    if (!issue->stream || bytes == 0)
        return;
    bool src_is_host = sc_track_find_range(&sc_track, (uintptr_t)src).range != 0;
    bool dst_is_host = sc_track_find_range(&sc_track, (uintptr_t)dst).range != 0;
    if (!sc_is_device_address(dst_is_host ? src : dst))
        issue->joins_stream = true;
    else if (src_is_host)
        sc_issue_host(issue, SC_H2D, host(src), bytes);
    else if (dst_is_host)
        sc_issue_host(issue, SC_D2H, host(dst), bytes);
}

ISSUE(cuMemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream hStream),
      (dst, (CUdeviceptr)(uintptr_t)SOURCE(host(src)), bytes, hStream),
      either_side(&issue, dst, src, bytes);)

ISSUE(cuMemcpyDtoDAsync_v2, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream hStream),
      (dst, src, bytes, hStream), either_side(&issue, dst, src, bytes);)

ISSUE(cuMemcpyPeerAsync,
      (CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context, size_t bytes,
       CUstream hStream),
      (dst, dst_context, src, src_context, bytes, hStream), either_side(&issue, dst, src, bytes);)

/* ---- 2D and 3D ---- */

struct side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    size_t x, y, z, pitch, height;
};

static bool is_known(CUdeviceptr address, enum sc_buffer_kind *kind)
{
    struct sc_range_info range = sc_track_find_range(&sc_track, (uintptr_t)address);
    *kind = range.kind;
    return range.range != 0;
}

/* Named as host memory, or a unified address that is no device's. */
static bool is_host_side(const struct side *side)
{
    enum sc_buffer_kind kind;
    if (side->type != CU_MEMORYTYPE_UNIFIED)
        return side->type == CU_MEMORYTYPE_HOST;
    return is_known(side->device, &kind) ? kind != SC_MANAGED : !sc_is_device_address(side->device);
}

static void box_side(struct sc_issue *issue, enum sc_direction direction, const struct side *side,
                     size_t width, size_t height, size_t depth)
{
    enum sc_buffer_kind kind;
    size_t pitch = side->pitch ? side->pitch : width + side->x;
    size_t slice = pitch * (side->height ? side->height : height + side->y);
    const char *base = side->type == CU_MEMORYTYPE_HOST ? side->host : host(side->device);
    bool known = side->type != CU_MEMORYTYPE_ARRAY && is_known((uintptr_t)base, &kind);
    if (!known && !is_host_side(side))
        return;
    struct sc_shape shape = {
        .address = (uintptr_t)base + side->z * slice + side->y * pitch + side->x,
        .width_bytes = width,
        .pitch_bytes = pitch,
        .rows = height * (depth > 1 ? 1 : depth),
    };
    if (depth > 1) { /* the slices as one shape: rows of a slice apart, as wide as a slice's rows */
        shape.width_bytes = (height - 1) * pitch + width;
        shape.pitch_bytes = slice;
        shape.rows = depth;
    }
    unsigned before = issue->count;
    sc_issue_host_shape(issue, direction, &shape);
    if (depth > 1 && height > 1 && width < pitch && issue->count > before)
        sc_issue_folded(issue, width, pitch);
}

/* Between two host addresses the driver completes the copy before it returns, as it does for plain
 * ones. */
static void box_sides(struct sc_issue *issue, const struct side *dst, const struct side *src,
                      size_t width, size_t height, size_t depth)
{
    if (!issue->stream)
        return;
    if (is_host_side(src) && is_host_side(dst)) {
        issue->joins_stream = true;
        return;
    }
    box_side(issue, SC_H2D, src, width, height, depth);
    box_side(issue, SC_D2H, dst, width, height, depth);
}

static void sides_2d(struct sc_issue *issue, const CUDA_MEMCPY2D *copy)
{
    if (!copy || !copy->WidthInBytes || !copy->Height)
        return;
    struct side src = {copy->srcMemoryType, copy->srcHost,
                       copy->srcDevice,     copy->srcXInBytes,
                       copy->srcY,          0,
                       copy->srcPitch,      0};
    struct side dst = {copy->dstMemoryType, copy->dstHost,
                       copy->dstDevice,     copy->dstXInBytes,
                       copy->dstY,          0,
                       copy->dstPitch,      0};
    box_sides(issue, &dst, &src, copy->WidthInBytes, copy->Height, 1);
}

/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER have these fields in common. */
#define SIDES_3D(issue, copy)                                                                      \
    do {                                                                                           \
        if (!(copy) || !(copy)->WidthInBytes || !(copy)->Height || !(copy)->Depth)                 \
            break;                                                                                 \
        struct side src = {(copy)->srcMemoryType, (copy)->srcHost,  (copy)->srcDevice,             \
                           (copy)->srcXInBytes,   (copy)->srcY,     (copy)->srcZ,                  \
                           (copy)->srcPitch,      (copy)->srcHeight};                              \
        struct side dst = {(copy)->dstMemoryType, (copy)->dstHost,  (copy)->dstDevice,             \
                           (copy)->dstXInBytes,   (copy)->dstY,     (copy)->dstZ,                  \
                           (copy)->dstPitch,      (copy)->dstHeight};                              \
        box_sides(issue, &dst, &src, (copy)->WidthInBytes, (copy)->Height, (copy)->Depth);         \
    } while (0);

ISSUE(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream hStream), (copy, hStream),
      sides_2d(&issue, copy);)

ISSUE(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *copy, CUstream hStream), (copy, hStream),
      SIDES_3D(&issue, copy))

ISSUE(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *copy, CUstream hStream), (copy, hStream),
      SIDES_3D(&issue, copy))

/* ---- memset and prefetch ---- */

static void set_rows(struct sc_issue *issue, CUdeviceptr dst, size_t pitch, size_t width,
                     size_t height)
{
    struct sc_shape shape = {(uintptr_t)dst, width, pitch, height};
    if (issue->stream && sc_track_find_range(&sc_track, shape.address).range)
        sc_issue_host_shape(issue, SC_MEMSET, &shape);
}

#define MEMSET(bits, type)                                                                         \
    ISSUE(cuMemsetD##bits##Async, (CUdeviceptr dst, type value, size_t count, CUstream hStream),   \
          (dst, value, count, hStream),                                                            \
          set_rows(&issue, dst, count * sizeof(type), count * sizeof(type), 1);)                   \
    ISSUE(cuMemsetD2D##bits##Async,                                                                \
          (CUdeviceptr dst, size_t pitch, type value, size_t width, size_t height,                 \
           CUstream hStream),                                                                      \
          (dst, pitch, value, width, height, hStream),                                             \
          set_rows(&issue, dst, pitch, width * sizeof(type), height);)

MEMSET(8, unsigned char)
MEMSET(16, unsigned short)
MEMSET(32, unsigned int)

/* A prefetch moves pages and changes no byte: it only must not lose its memory. */
static void prefetch_side(struct sc_issue *issue, CUdeviceptr address, size_t bytes)
{
    if (issue->stream && sc_track_find_range(&sc_track, (uintptr_t)address).range)
        sc_issue_host(issue, SC_PREFETCH, host(address), bytes);
}

ISSUE(cuMemPrefetchAsync, (CUdeviceptr address, size_t bytes, CUdevice device, CUstream hStream),
      (address, bytes, device, hStream), prefetch_side(&issue, address, bytes);)

ISSUE(cuMemPrefetchAsync_v2,
      (CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned int flags,
       CUstream hStream),
      (address, bytes, location, flags, hStream), prefetch_side(&issue, address, bytes);)
