/* Asynchronous copies, memsets and prefetches. */
#include "interpose/base/compiler.h"
#include "interpose/calls/issue.h"
#include "interpose/capture/detours.h"
#include "interpose/driver/addresses.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"
#include "interpose/graph/copy_sides.h"
#include "track/hazard.h"
#include "track/shape.h"
#include "track/spans.h"
#include "track/track.h"

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
               __VA_ARGS__ sc_issue_ready(&issue); sc_issue_call(&issue);                          \
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

/* Is it memory that the device uses after the call? */
static bool is_host(const struct sc_issue *issue, CUdeviceptr address)
{
    return sc_track_find_range(&sc_track, (uintptr_t)address).range != 0 ||
           (issue->stream && issue->stream->context->reads_pageable &&
            sc_is_pageable_address(address));
}

static void touch(struct sc_issue *issue, enum sc_touch touch, CUdeviceptr address, size_t bytes)
{
    sc_issue_touch(issue, touch, &(struct sc_shape){(uintptr_t)address, bytes, bytes, 1});
}

/* Unified addresses: either side may be host memory. Between two host addresses, and to a pageable
 * one, the driver completes the copy before it returns (docs/driver.md, Q10), and a pageable source
 * is staged in the call. In a capture each is a node. */
static void either_side(struct sc_issue *issue, CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    issue->is_empty = bytes == 0;
    if (!sc_issue_is_on(issue) || issue->is_empty)
        return;
    if (issue->graph) {
        struct sc_copy_sides boxes = {.src = sc_copy_side_at(src, bytes),
                                      .dst = sc_copy_side_at(dst, bytes)};
        sc_issue_boxes(issue, &boxes);
        return;
    }
    bool src_is_host = is_host(issue, src);
    bool dst_is_host = is_host(issue, dst);
    if (!sc_is_device_address(dst_is_host ? src : dst)) {
        issue->joins_stream = true;
        touch(issue, SC_TOUCH_READ, src, bytes);
        touch(issue, SC_TOUCH_WRITE, dst, bytes);
    } else if (src_is_host) {
        sc_issue_host(issue, SC_H2D, host(src), bytes);
    } else if (dst_is_host) {
        sc_issue_host(issue, SC_D2H, host(dst), bytes);
    } else {
        touch(issue, SC_TOUCH_READ, src, bytes);
    }
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

#define BOXES(issue, boxes_of, copy)                                                               \
    if (sc_issue_is_on(issue)) {                                                                   \
        struct sc_copy_sides boxes = boxes_of(copy);                                               \
        sc_issue_boxes(issue, &boxes);                                                             \
    }

ISSUE(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream hStream), (copy, hStream),
      BOXES(&issue, sc_copy_sides_of_2d, copy))

ISSUE(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *copy, CUstream hStream), (copy, hStream),
      BOXES(&issue, sc_copy_sides_of_3d, copy))

ISSUE(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *copy, CUstream hStream), (copy, hStream),
      BOXES(&issue, sc_copy_sides_of_3d_peer, copy))

/* ---- memset and prefetch ---- */

static void set_rows(struct sc_issue *issue, CUdeviceptr dst, size_t pitch, size_t width,
                     size_t height)
{
    struct sc_shape shape = {(uintptr_t)dst, width, pitch, height};
    issue->is_empty = sc_shape_hull_bytes(&shape) == 0;
    if (!issue->is_empty && sc_issue_is_on(issue) && is_host(issue, dst))
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
