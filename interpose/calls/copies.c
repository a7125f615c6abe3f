/* Wrappers of asynchronous copies, memsets and prefetches: each names the memory that its call
 * uses, and leaves the rest to issue.h. */

/* Terms (docs/glossary.md):
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   wrapper: our function in the place of one of the driver's
 */

#include "common/op_kinds.h"
#include "common/shape.h"
#include "interpose/base/compiler.h"
#include "interpose/calls/issue.h"
#include "interpose/calls/simple_copies.h"
#include "interpose/capture/detours.h"
#include "interpose/driver/addresses.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/rows.h"
#include "interpose/driver/wrap.h"
#include "interpose/graph/copy_sides.h"
#include "interpose/ledger/managed.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/contexts.h"
#include "track/device_use.h"
#include "track/track_ranges.h"

#include "common/poison.h"

/* For functions whose locals should not stand on the stack while the driver is called. */
#define OUT_OF_LINE __attribute__((noinline))

/* Returns the shape of contiguous bytes: one row. */
static struct sc_shape run_shape(CUdeviceptr address, size_t bytes)
{
    return (struct sc_shape){(uintptr_t)address, bytes, bytes, 1};
}

/* Adds what a copy does with its side in device memory, for option device=1. The caller has made
 * sure that the address is no managed or pinned memory. */
static void add_device_side(struct sc_issue *issue, enum sc_direction direction,
                            CUdeviceptr address, size_t bytes)
{
    sc_issue_add_device(issue,
                        &(struct sc_device_use){.shape = run_shape(address, bytes),
                                                .direction = direction,
                                                .access = direction == SC_D2H ? SC_DEVICE_READS
                                                                              : SC_DEVICE_WRITES});
}

/* Adds both sides of a copy whose device address may lie in managed or pinned memory: the kind of
 * each side is looked up, since such memory is in flight like host memory. Rare, so apart from
 * add_host_and_device. */
static OUT_OF_LINE void add_checked_sides(struct sc_issue *issue, enum sc_direction direction,
                                          const void *host_side, CUdeviceptr device, size_t bytes)
{
    const struct sc_copy_side of_host = sc_copy_side_at(SC_SIDE_HOST, (uintptr_t)host_side, bytes);
    const struct sc_copy_side of_device = sc_copy_side_at(SC_SIDE_DEVICE, device, bytes);
    const bool up = direction == SC_H2D;
    const struct sc_copy_sides sides = {
        .src = up ? of_host : of_device, .dst = up ? of_device : of_host, .is_empty = bytes == 0};
    sc_issue_add_sides(issue, &sides);
}

/* Adds the two sides of a copy between host and device (cuMemcpyHtoDAsync, cuMemcpyDtoHAsync),
 * whose function says which of them is host memory. `direction`: SC_H2D or SC_D2H. While the
 * library is inactive, nothing is added. */
static inline void add_host_and_device(struct sc_issue *issue, enum sc_direction direction,
                                       const void *host_side, CUdeviceptr device, size_t bytes)
{
    const bool up = direction == SC_H2D;
    if (!sc_issue_is_on(issue))
        return;
    if (sc_unlikely(sc_track_may_be_host(&sc_track, device))) {
        add_checked_sides(issue, direction, host_side, device, bytes);
        return;
    }
    sc_issue_add_host(issue, direction, host_side, bytes);
    add_device_side(issue, direction, device, bytes);
    sc_issue_set_history(issue, direction, up ? device : (uintptr_t)host_side,
                         up ? (uintptr_t)host_side : device, bytes);
}

/* One asynchronous copy, memset or prefetch, from before the driver's call. */
struct copy {
    struct sc_detour detour;
    struct sc_issue issue;
};

/* Called first by each wrapper: finds the stream. If a blocking stream captures, an operation on
 * the legacy stream would break the capture: `*stream` is then a private stream (a detour). The
 * wrapper goes on by naming the memory that the copy uses. */
static inline void begin_copy(struct copy *copy, const struct sc_call *call, CUstream *stream)
{
    sc_detour_begin(&copy->detour, call, stream);
    sc_issue_begin(&copy->issue, call, *stream);
    copy->issue.is_detour = sc_detour_is_taken(&copy->detour);
}

/* Called before the driver's call, for a copy with a contiguous host source: orders the copy after
 * what it conflicts with (sc_issue_begin_call). Returns the source to pass to the driver: a
 * snapshot, or `src` if none was taken. */
static const void *call_with_source(struct copy *copy, const void *src)
{
    sc_issue_begin_call(&copy->issue);
    return sc_issue_source(&copy->issue, src);
}

/* Called when the driver has answered: records the copy if it was accepted. Returns `result`. */
static CUresult end_copy(struct copy *copy, CUresult result)
{
    return sc_detour_end(&copy->detour, sc_issue_end(&copy->issue, result));
}

/* ---- unified addresses ---- */

/* Returns both sides of a copy between unified addresses that is captured. Each side is used by a
 * node, at every launch, so the driver is asked about both addresses. */
static struct sc_copy_sides captured_sides(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    return (struct sc_copy_sides){.src = sc_copy_side_at(SC_SIDE_ASKED, src, bytes),
                                  .dst = sc_copy_side_at(SC_SIDE_ASKED, dst, bytes),
                                  .is_empty = bytes == 0};
}

/* Stores what lies at the two addresses of a copy (interpose/graph/copy_sides.h). */
typedef void find_sides(struct sc_copy_sides *sides, CUdeviceptr dst, CUdeviceptr src, size_t bytes,
                        bool in_place);

/* Adds both sides of a copy between two addresses. A captured copy needs both in full; for another
 * one `find` finds them with as few questions to the driver as possible. */
static OUT_OF_LINE void add_found_sides(struct sc_issue *issue, CUdeviceptr dst, CUdeviceptr src,
                                        size_t bytes, find_sides *find)
{
    struct sc_copy_sides sides;
    if (issue->graph)
        sides = captured_sides(dst, src, bytes);
    else
        find(&sides, dst, src, bytes, issue->stream->context->reads_pageable);
    sc_issue_add_sides(issue, &sides);
}

/* Adds the sides of a copy between two addresses (cuMemcpyAsync, cuMemcpyDtoDAsync), each of which
 * may be host memory. Nothing is added while the library is inactive, or if the copy is empty. */
static void add_either_side(struct sc_issue *issue, CUdeviceptr dst, CUdeviceptr src, size_t bytes,
                            find_sides *find)
{
    issue->is_empty = bytes == 0;
    if (sc_issue_is_on(issue) && !issue->is_empty)
        add_found_sides(issue, dst, src, bytes, find);
}

/* ---- 2D and 3D ---- */

/* Adds the two sides of a 2D or 3D copy. The wrapper calls it only while the library is active and
 * the stream is known: else the program's parameters are not looked at, and may be NULL. */
#define SIDES(function, parameters)                                                                \
    static OUT_OF_LINE void name_##function(struct sc_issue *issue, const parameters *copy)        \
    {                                                                                              \
        const struct sc_copy_sides sides = sc_copy_sides_of_##function(copy);                      \
        sc_issue_add_sides(issue, &sides);                                                         \
    }

SIDES(2d, CUDA_MEMCPY2D)
SIDES(3d, CUDA_MEMCPY3D)
SIDES(3d_peer, CUDA_MEMCPY3D_PEER)

/* Does a row of `width` bytes (or a layer of so many rows) from `x` on lie within the pitch? If
 * not, the driver may refuse the copy, so no snapshot of its source is taken. A pitch of 0 means:
 * as large as it has to be. */
static bool row_fits(size_t pitch, size_t x, size_t width)
{
    return pitch == 0 ? x == 0 : x <= pitch && width <= pitch - x;
}

/* Called before the driver's call, for a 2D copy: orders it after what it conflicts with
 * (sc_issue_begin_call). Returns the parameters to pass to the driver: the program's, or `own`,
 * which has a snapshot as the source. In a snapshot rows lie without gaps. */
static OUT_OF_LINE const CUDA_MEMCPY2D *source_2d(struct copy *copy, const CUDA_MEMCPY2D *sides,
                                                  CUDA_MEMCPY2D *own)
{
    sc_issue_begin_call(&copy->issue);
    bool is_valid =
        copy->issue.op_count && row_fits(sides->srcPitch, sides->srcXInBytes, sides->WidthInBytes);
    const void *snapshot = is_valid ? sc_issue_snapshot(&copy->issue) : NULL;
    if (!snapshot)
        return sides;
    *own = *sides;
    own->srcMemoryType = CU_MEMORYTYPE_HOST;
    own->srcHost = snapshot;
    own->srcXInBytes = own->srcY = 0;
    own->srcPitch = sides->WidthInBytes;
    return own;
}

/* Makes source_3d and source_3d_peer, which do for a 3D copy what source_2d does: order it, and
 * return the parameters to pass to the driver, perhaps with a snapshot as the source. Both kinds of
 * parameters have the fields that are used here. */
#define SOURCE_3D(function, parameters)                                                            \
    static OUT_OF_LINE const parameters *source_##function(                                        \
        struct copy *copy, const parameters *sides, parameters *own)                               \
    {                                                                                              \
        sc_issue_begin_call(&copy->issue);                                                         \
        bool is_valid = copy->issue.op_count &&                                                    \
                        row_fits(sides->srcPitch, sides->srcXInBytes, sides->WidthInBytes) &&      \
                        row_fits(sides->srcHeight, sides->srcY, sides->Height);                    \
        const void *snapshot = is_valid ? sc_issue_snapshot(&copy->issue) : NULL;                  \
        if (!snapshot)                                                                             \
            return sides;                                                                          \
        *own = *sides;                                                                             \
        own->srcMemoryType = CU_MEMORYTYPE_HOST;                                                   \
        own->srcHost = snapshot;                                                                   \
        own->srcXInBytes = own->srcY = own->srcZ = 0;                                              \
        own->srcPitch = sides->WidthInBytes;                                                       \
        own->srcHeight = sides->Height;                                                            \
        return own;                                                                                \
    }

SOURCE_3D(3d, CUDA_MEMCPY3D)
SOURCE_3D(3d_peer, CUDA_MEMCPY3D_PEER)

#define OF_ROWS(symbol, function, parameters)                                                      \
    SC_PAIR(symbol, _ptsz, (const parameters *sides, CUstream stream), (sides, stream))            \
    {                                                                                              \
        struct copy copy;                                                                          \
        parameters own;                                                                            \
        begin_copy(&copy, call, &stream);                                                          \
        if (sc_issue_is_on(&copy.issue))                                                           \
            name_##function(&copy.issue, sides);                                                   \
        sides = source_##function(&copy, sides, &own);                                             \
        return end_copy(&copy, real(sides, stream));                                               \
    }

OF_ROWS(cuMemcpy2DAsync_v2, 2d, CUDA_MEMCPY2D)
OF_ROWS(cuMemcpy3DAsync_v2, 3d, CUDA_MEMCPY3D)
OF_ROWS(cuMemcpy3DPeerAsync, 3d_peer, CUDA_MEMCPY3D_PEER)

/* ---- memset and prefetch ---- */

/* Does a memset at this address write memory that the host can use: a range that the driver knows
 * (pinned, registered, managed), or pageable memory that the device writes itself? Else it is
 * device memory. */
static bool is_used_as_host(const struct sc_issue *issue, CUdeviceptr address)
{
    return sc_track_find_range(&sc_track, (uintptr_t)address).range != 0 ||
           (issue->stream && issue->stream->context->reads_pageable &&
            sc_address_is_pageable(address));
}

/* Adds the memory that a memset fills, as host memory or as device memory. `fill`: the value, as a
 * word of four bytes. An empty memset is no work. */
static void add_memset(struct sc_issue *issue, CUdeviceptr dst, size_t pitch, size_t width,
                       size_t height, uint32_t fill)
{
    struct sc_shape shape = {(uintptr_t)dst, width, pitch, height};
    issue->is_empty = sc_shape_hull_bytes(&shape) == 0;
    if (issue->is_empty || !sc_issue_is_on(issue))
        return;
    sc_issue_set_history(issue, SC_MEMSET, dst, 0, sc_shape_hull_bytes(&shape));
    sc_reaper_end_registrations(shape.address, sc_shape_hull_bytes(&shape));
    if (is_used_as_host(issue, dst))
        sc_issue_add_host_shape(issue, SC_MEMSET, &shape);
    else
        sc_issue_add_device(issue, &(struct sc_device_use){.shape = shape,
                                                           .direction = SC_MEMSET,
                                                           .access = SC_DEVICE_WRITES,
                                                           .fill = fill});
}

/* Adds the memory of a prefetch, if it is managed. A prefetch moves pages and changes no byte, so
 * it conflicts with nothing: it is noted only so that a free of its memory meanwhile is found. A
 * captured one needs no note. */
static void add_prefetch(struct sc_issue *issue, CUdeviceptr address, size_t bytes)
{
    if (issue->stream && sc_track_find_range(&sc_track, (uintptr_t)address).range)
        sc_issue_add_host(issue, SC_PREFETCH, (const void *)(uintptr_t)address, bytes);
}

/* Wrapper of a prefetch: an operation on managed memory, and where that is to lie for the ledger.
 */
SC_PAIR(cuMemPrefetchAsync, _ptsz,
        (CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream),
        (address, bytes, device, stream))
{
    struct copy copy;
    begin_copy(&copy, call, &stream);
    add_prefetch(&copy.issue, address, bytes);
    sc_issue_begin_call(&copy.issue);
    CUresult result = end_copy(&copy, real(address, bytes, device, stream));
    if (result == CUDA_SUCCESS)
        sc_managed_prefetched(call, address, bytes, sc_managed_location(device));
    return result;
}

/* Wrapper of a prefetch to any location: an operation on managed memory, and where that is to lie
 * for the ledger. */
SC_PAIR(cuMemPrefetchAsync_v2, _ptsz,
        (CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags,
         CUstream stream),
        (address, bytes, location, flags, stream))
{
    struct copy copy;
    begin_copy(&copy, call, &stream);
    add_prefetch(&copy.issue, address, bytes);
    sc_issue_begin_call(&copy.issue);
    CUresult result = end_copy(&copy, real(address, bytes, location, flags, stream));
    if (result == CUDA_SUCCESS)
        sc_managed_prefetched(call, address, bytes, location);
    return result;
}

/* ---- from the rows of api.def ---- */

#define USES_TO_DEVICE(dst, src, bytes) add_host_and_device(&copy.issue, SC_H2D, src, dst, bytes)
#define USES_TO_HOST(dst, src, bytes) add_host_and_device(&copy.issue, SC_D2H, dst, src, bytes)
#define USES_ON_DEVICE(dst, src, bytes)                                                            \
    add_either_side(&copy.issue, dst, src, bytes, sc_copy_sides_of_device)
#define USES_PEERS(dst, dst_context, src, src_context, bytes) USES_ON_DEVICE(dst, src, bytes)
#define USES_ANYWHERE(dst, src, bytes)                                                             \
    add_either_side(&copy.issue, dst, src, bytes, sc_copy_sides_unified)
#define USES_READS_HOST(src, bytes) sc_issue_add_host(&copy.issue, SC_H2D, src, bytes)
#define USES_WRITES_HOST(dst, bytes) sc_issue_add_host(&copy.issue, SC_D2H, dst, bytes)
#define USES_FILLS(dst, count, value) USES_FILLS_ROWS(dst, (count) * sizeof(value), count, 1, value)
#define USES_FILLS_ROWS(dst, pitch, count, rows, value)                                            \
    add_memset(&copy.issue, dst, pitch, (count) * sizeof(value), rows,                             \
               sc_device_use_fill(value, sizeof(value)))

#define CALL_SNAPSHOT(src)                                                                         \
    src = (__typeof__(src))(uintptr_t)call_with_source(&copy, (const void *)(uintptr_t)(src))
#define CALL_NONE sc_issue_begin_call(&copy.issue)

#define SC_ISSUES(name, suffix, version, per_thread_version, arguments, uses, source)              \
    ISSUES(SC_PAIR, name##suffix, arguments, uses, source)
#define SC_ISSUES_SIMPLY(name, suffix, version, per_thread_version, arguments, uses, source)       \
    ISSUES(SC_SIMPLE_PAIR, name##suffix, arguments, uses, source)
#define ISSUES(PAIR, symbol, arguments, uses, source)                                              \
    PAIR(symbol, _ptsz, SC_PARAMETERS(symbol, arguments), arguments)                               \
    {                                                                                              \
        struct copy copy;                                                                          \
        begin_copy(&copy, call, &hStream);                                                         \
        USES_##uses;                                                                               \
        CALL_##source;                                                                             \
        return end_copy(&copy, real arguments);                                                    \
    }
#include "interpose/driver/api.def"
