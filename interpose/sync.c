/* Synchronises, queries, and copies that return when they are done. */
#include "interpose/sync.h"

#include <errno.h>

#include "interpose/captures.h"
#include "interpose/detours.h"
#include "interpose/follow.h"
#include "interpose/guard.h"
#include "interpose/hazards.h"
#include "interpose/issue.h"
#include "interpose/marks.h"
#include "interpose/process.h"
#include "interpose/reaper.h"
#include "interpose/streams.h"
#include "interpose/wrap.h"

#include "track/poison.h"

static struct sc_sync begin(const char *api, void *site)
{
    sc_reaper_judge_now();
    return (struct sc_sync){.api = api, .site = site};
}

static void wait_for_stream(struct sc_sync *sync)
{
    sync->on = true;
    sync->since_ticks = sc_pending_stream_since(sync->stream);
    sync->point = sc_track_point(&sc_track, sync->stream->id, sc_scope_of(sync->stream));
}

struct sc_sync sc_sync_begin_stream(const char *api, void *site, CUstream handle, bool per_thread)
{
    struct sc_sync sync = begin(api, site);
    sync.stream = sc_active() ? sc_streams_find(handle, per_thread) : NULL;
    if (sync.stream)
        wait_for_stream(&sync);
    return sync;
}

static const void *host(CUdeviceptr address)
{
    return (const void *)(uintptr_t)address;
}

static bool is_on_device(const void *written)
{
    return written == NULL || sc_is_device_address((CUdeviceptr)(uintptr_t)written);
}

/* In the legacy stream the driver waits for the blocking ones before it takes any bytes. */
static bool may_take_early(struct sc_stream_record *stream)
{
    return stream->kind == SC_STREAM_LEGACY ? sc_order_is_due(&sc_track.order, stream->id)
                                            : sc_pending_is_hidden(stream, true);
}

static void take_in_time(struct sc_stream_record *stream)
{
    if (sc_options.mode == SC_MODE_FIX && (!sc_follows() || sc_follow_prepares()))
        sc_marks_wait_for_itself(stream);
}

struct sc_sync sc_sync_begin_copy(const char *api, void *site, bool per_thread, const void *written)
{
    struct sc_sync sync = begin(api, site);
    sync.stream = sc_active() ? sc_streams_find(NULL, per_thread) : NULL;
    if (sync.stream) {
        if (sc_unlikely(may_take_early(sync.stream)) && is_on_device(written))
            take_in_time(sync.stream);
        if (sc_unlikely(sc_follow_prepares()))
            return (struct sc_sync){0};
        sc_pending_legacy(sync.stream);
        sc_track_work(&sc_track, sync.stream->id);
        wait_for_stream(&sync);
    }
    return sync;
}

static struct sc_sync begin_whole(const char *api, void *site, struct sc_context *context)
{
    struct sc_sync sync = begin(api, site);
    sync.context = context;
    if (context) {
        sync.on = true;
        sync.since_ticks = sc_pending_context_since(context);
        sync.point = sc_track_point(&sc_track, context->legacy, SC_SCOPE_CONTEXT);
    }
    return sync;
}

struct sc_sync sc_sync_begin_context(const char *api, void *site, CUcontext handle)
{
    return begin_whole(api, site, sc_active() ? sc_contexts_named(handle) : NULL);
}

struct sc_sync sc_sync_begin_free(const char *api, void *site)
{
    return begin_whole(api, site, sc_active() ? sc_contexts_of_memory() : NULL);
}

struct sc_sync sc_sync_begin_event(const char *api, void *site, CUevent event)
{
    struct sc_sync sync = begin(api, site);
    if (sc_active()) {
        sync.on = true;
        sync.point = sc_track_event_point(&sc_track, (uintptr_t)event);
    }
    return sync;
}

static void done(struct sc_sync *sync)
{
    struct sc_ops overwritten;
    if (sync->stream)
        sc_pending_stream_done(sync->stream, sync->since_ticks);
    if (sync->context)
        sc_pending_context_done(sync->context, sync->since_ticks);
    sc_track_known(&sc_track, &sync->point, &overwritten);
    if (sc_unlikely(overwritten.count))
        sc_hazards_report_overwritten(&overwritten,
                                      &(struct sc_culprit){sync->api, sync->site, NULL});
    sc_guard_apply();
}

CUresult sc_sync_end(struct sc_sync *sync, CUresult result)
{
    int saved = errno;
    if (sync->on && result == CUDA_SUCCESS)
        done(sync);
    else if (sync->on)
        sc_track_forget_point(&sc_track, &sync->point);
    errno = saved;
    return result;
}

/* Of the legacy stream while a blocking one captures, and of others while anything does. */
SC_DEFINE2(cuStreamSynchronize, _ptsz, (CUstream hStream), struct sc_detour detour;
           sc_detour_begin(&detour, API, SC_SITE(), &hStream, per_thread);
           struct sc_sync sync = sc_sync_begin_stream(API, SC_SITE(), hStream, per_thread);
           CUresult result = sc_detour_leaves(&detour) ? SC_PERMITTED(REAL(hStream))
                                                       : REAL(hStream);
           return sc_detour_end(&detour, sc_sync_end(&sync, result));)

SC_DEFINE2(cuStreamQuery, _ptsz, (CUstream hStream), struct sc_detour detour; CUresult result;
           struct sc_sync sync = sc_sync_begin_stream(API, SC_SITE(), hStream, per_thread);
           if (!sc_detour_begin_query(&detour, API, SC_SITE(), hStream, per_thread, &result))
               result = sc_detour_leaves(&detour) ? SC_PERMITTED(REAL(hStream)) : REAL(hStream);
           return sc_detour_end(&detour, sc_sync_end(&sync, result));)

SC_DEFINE(cuCtxSynchronize, (void),
          struct sc_sync sync = sc_sync_begin_context(API, SC_SITE(), NULL);
          CUresult result = sc_sync_end(&sync, SC_PERMITTED(REAL()));
          sc_reaper_give_back_pinned(sync.context); return result;)

SC_DEFINE(cuCtxSynchronize_v2, (CUcontext context),
          struct sc_sync sync = sc_sync_begin_context(API, SC_SITE(), context);
          return sc_sync_end(&sync, SC_PERMITTED(REAL(context)));)

SC_DEFINE(cuEventSynchronize, (CUevent event),
          struct sc_sync sync = sc_sync_begin_event(API, SC_SITE(), event);
          return sc_sync_end(&sync, SC_PERMITTED(REAL(event)));)

SC_DEFINE(cuEventQuery, (CUevent event),
          struct sc_sync sync = sc_sync_begin_event(API, SC_SITE(), event);
          return sc_sync_end(&sync, SC_PERMITTED(REAL(event)));)

/* It succeeds only if both events are complete. */
#define ELAPSED(symbol)                                                                            \
    SC_DEFINE(symbol, (float *milliseconds, CUevent start, CUevent end),                           \
              struct sc_sync first = sc_sync_begin_event(API, SC_SITE(), start);                   \
              struct sc_sync second = sc_sync_begin_event(API, SC_SITE(), end);                    \
              CUresult result = REAL(milliseconds, start, end); sc_sync_end(&first, result);       \
              return sc_sync_end(&second, result);)

ELAPSED(cuEventElapsedTime)
ELAPSED(cuEventElapsedTime_v2)

/* ---- synchronous copies ----
 *
 * One that involves host memory returns after everything before it on its stream is done, also
 * where its own DMA has not landed yet (pageable source). Between device addresses, and for
 * memsets of device memory, the host does not wait: they are only work. (docs/driver.md, Q5, Q6) */

/* While a blocking stream captures, the asynchronous function does the same in a private stream. */
#define WITH_STREAM(...) (__VA_ARGS__, hStream)
#define DETOURED(async, arguments)                                                                 \
    struct sc_detour detour;                                                                       \
    CUstream hStream = NULL;                                                                       \
    sc_detour_begin(&detour, API, SC_SITE(), &hStream, per_thread);                                \
    if (sc_detour_taken(&detour)) {                                                                \
        CUresult moved = async WITH_STREAM arguments;                                              \
        return sc_detour_end(&detour, moved ? moved : cuStreamSynchronize(hStream));               \
    }

#define COPY(symbol, async, parameters, arguments, written, written_bytes)                         \
    SC_DEFINE2(symbol, _ptds, parameters,                                                          \
               DETOURED(async, arguments) seal(API, SC_SITE(), written, written_bytes);            \
               struct sc_sync sync = sc_sync_begin_copy(API, SC_SITE(), per_thread, written);      \
               return sc_detour_end(&detour, sc_sync_end(&sync, REAL arguments));)

#define DEVICE_COPY(symbol, async, parameters, arguments)                                          \
    SC_DEFINE2(symbol, _ptds, parameters,                                                          \
               DETOURED(async, arguments) sc_sync_device_work(per_thread);                         \
               return sc_detour_end(&detour, REAL arguments);)

#define MEMSET(symbol, async, address, bytes, parameters, arguments)                               \
    SC_DEFINE2(                                                                                    \
        symbol, _ptds, parameters,                                                                 \
        DETOURED(async, arguments) if (!is_host(address)) {                                        \
            sc_sync_device_work(per_thread);                                                       \
            return sc_detour_end(&detour, REAL arguments);                                         \
        } seal(API, SC_SITE(), host(address), bytes);                                              \
        struct sc_sync sync = sc_sync_begin_copy(API, SC_SITE(), per_thread, host(address));       \
        return sc_detour_end(&detour, sc_sync_end(&sync, REAL arguments));)

/* What the call itself writes changes in order, behind earlier copies out of it. */
static void seal(const char *api, void *site, const void *written, size_t size_bytes)
{
    sc_issue_seal(api, site, (uintptr_t)written, size_bytes);
}

static bool is_host(CUdeviceptr address)
{
    return sc_active() && sc_track_find_range(&sc_track, (uintptr_t)address).range;
}

static void sc_sync_device_work(bool per_thread)
{
    struct sc_stream_record *stream = sc_active() ? sc_streams_find(NULL, per_thread) : NULL;
    if (stream) {
        sc_pending_legacy(stream);
        sc_track_work(&sc_track, stream->id);
        sc_marks_note_tail(stream);
    }
}

/* Between arrays and device addresses there is no asynchronous function but that for boxes. */
static CUresult box_async(CUmemorytype dst_type, CUdeviceptr dst, CUarray dst_array, size_t dst_x,
                          CUmemorytype src_type, CUdeviceptr src, CUarray src_array, size_t src_x,
                          size_t bytes, CUstream stream)
{
    CUDA_MEMCPY2D copy = {
        .srcXInBytes = src_x,
        .srcMemoryType = src_type,
        .srcDevice = src,
        .srcArray = src_array,
        .dstXInBytes = dst_x,
        .dstMemoryType = dst_type,
        .dstDevice = dst,
        .dstArray = dst_array,
        .WidthInBytes = bytes,
        .Height = 1,
    };
    return cuMemcpy2DAsync_v2(&copy, stream);
}

static CUresult dtoa_async(CUarray dst, size_t offset, CUdeviceptr src, size_t bytes,
                           CUstream stream)
{
    return box_async(CU_MEMORYTYPE_ARRAY, 0, dst, offset, CU_MEMORYTYPE_DEVICE, src, NULL, 0, bytes,
                     stream);
}

static CUresult atod_async(CUdeviceptr dst, CUarray src, size_t offset, size_t bytes,
                           CUstream stream)
{
    return box_async(CU_MEMORYTYPE_DEVICE, dst, NULL, 0, CU_MEMORYTYPE_ARRAY, 0, src, offset, bytes,
                     stream);
}

static CUresult atoa_async(CUarray dst, size_t dst_offset, CUarray src, size_t src_offset,
                           size_t bytes, CUstream stream)
{
    return box_async(CU_MEMORYTYPE_ARRAY, 0, dst, dst_offset, CU_MEMORYTYPE_ARRAY, 0, src,
                     src_offset, bytes, stream);
}

COPY(cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2, (CUdeviceptr dst, const void *src, size_t bytes),
     (dst, src, bytes), NULL, 0)
COPY(cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, (void *dst, CUdeviceptr src, size_t bytes),
     (dst, src, bytes), dst, bytes)
COPY(cuMemcpyHtoA_v2, cuMemcpyHtoAAsync_v2,
     (CUarray dst, size_t offset, const void *src, size_t bytes), (dst, offset, src, bytes), NULL,
     0)
COPY(cuMemcpyAtoH_v2, cuMemcpyAtoHAsync_v2, (void *dst, CUarray src, size_t offset, size_t bytes),
     (dst, src, offset, bytes), dst, bytes)

DEVICE_COPY(cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, (CUdeviceptr dst, CUdeviceptr src, size_t bytes),
            (dst, src, bytes))
DEVICE_COPY(cuMemcpyDtoA_v2, dtoa_async,
            (CUarray dst, size_t offset, CUdeviceptr src, size_t bytes), (dst, offset, src, bytes))
DEVICE_COPY(cuMemcpyAtoD_v2, atod_async,
            (CUdeviceptr dst, CUarray src, size_t offset, size_t bytes), (dst, src, offset, bytes))
DEVICE_COPY(cuMemcpyAtoA_v2, atoa_async,
            (CUarray dst, size_t dst_offset, CUarray src, size_t src_offset, size_t bytes),
            (dst, dst_offset, src, src_offset, bytes))
DEVICE_COPY(cuMemcpyPeer, cuMemcpyPeerAsync,
            (CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context,
             size_t bytes),
            (dst, dst_context, src, src_context, bytes))
DEVICE_COPY(cuMemcpy3DPeer, cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *copy), (copy))

/* A side that is host memory, known to us or named as such, makes the copy one that waits. */
#define MIXED_COPY(symbol, async, parameters, arguments, waits, written, written_bytes)            \
    SC_DEFINE2(                                                                                    \
        symbol, _ptds, parameters,                                                                 \
        DETOURED(async, arguments) if (!(waits)) {                                                 \
            sc_sync_device_work(per_thread);                                                       \
            return sc_detour_end(&detour, REAL arguments);                                         \
        } seal(API, SC_SITE(), written, written_bytes);                                            \
        struct sc_sync sync = sc_sync_begin_copy(API, SC_SITE(), per_thread, written);             \
        return sc_detour_end(&detour, sc_sync_end(&sync, REAL arguments));)

#define NAMES_HOST(copy)                                                                           \
    ((copy) && ((copy)->srcMemoryType == CU_MEMORYTYPE_HOST ||                                     \
                (copy)->dstMemoryType == CU_MEMORYTYPE_HOST ||                                     \
                ((copy)->srcMemoryType == CU_MEMORYTYPE_UNIFIED && is_host((copy)->srcDevice)) ||  \
                ((copy)->dstMemoryType == CU_MEMORYTYPE_UNIFIED && is_host((copy)->dstDevice))))

/* The host side that the copy writes, as one hull. */
#define WRITTEN(copy)                                                                              \
    ((copy)->dstMemoryType == CU_MEMORYTYPE_HOST ? (const void *)(copy)->dstHost                   \
                                                 : host((copy)->dstDevice))
#define WRITTEN_2D(copy) (((copy)->dstY + (copy)->Height) * PITCH(copy))
#define WRITTEN_3D(copy)                                                                           \
    (((copy)->dstZ + (copy)->Depth) *                                                              \
     ((copy)->dstHeight ? (copy)->dstHeight : (copy)->dstY + (copy)->Height) * PITCH(copy))
#define PITCH(copy)                                                                                \
    ((copy)->dstPitch ? (copy)->dstPitch : (copy)->dstXInBytes + (copy)->WidthInBytes)

MIXED_COPY(cuMemcpy, cuMemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t bytes),
           (dst, src, bytes),
           sc_active() && !(sc_is_device_address(dst) && sc_is_device_address(src)), host(dst),
           bytes)
MIXED_COPY(cuMemcpy2D_v2, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy), (copy), NAMES_HOST(copy),
           WRITTEN(copy), WRITTEN_2D(copy))
MIXED_COPY(cuMemcpy2DUnaligned_v2, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy), (copy),
           NAMES_HOST(copy), WRITTEN(copy), WRITTEN_2D(copy))
MIXED_COPY(cuMemcpy3D_v2, cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *copy), (copy), NAMES_HOST(copy),
           WRITTEN(copy), WRITTEN_3D(copy))

#define MEMSETS(bits, type)                                                                        \
    MEMSET(cuMemsetD##bits##_v2, cuMemsetD##bits##Async, dst, count * sizeof(type),                \
           (CUdeviceptr dst, type value, size_t count), (dst, value, count))                       \
    MEMSET(cuMemsetD2D##bits##_v2, cuMemsetD2D##bits##Async, dst, pitch *height,                   \
           (CUdeviceptr dst, size_t pitch, type value, size_t width, size_t height),               \
           (dst, pitch, value, width, height))

MEMSETS(8, unsigned char)
MEMSETS(16, unsigned short)
MEMSETS(32, unsigned int)
