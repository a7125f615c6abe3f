/* Wrappers of synchronous copies and memsets.
 *
 * A call that has to do with host memory, managed memory included, returns when everything before
 * it on its stream is done. Its own bytes may still be on their way then (pageable source). For
 * copies between device addresses, and for memsets of device memory, the host does not wait: they
 * are only work. (track/copy_manner.h; docs/driver.md, Q5, Q6, Synchronous copies) */

/* Terms (docs/glossary.md):
 *   blocking stream: a stream without CU_STREAM_NON_BLOCKING
 *   detour: an operation of the legacy stream that the library issues on a private stream
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   source: the memory that a copy reads
 */

#include "common/pages.h"
#include "common/points.h"
#include "common/shape.h"
#include "common/ticks.h"
#include "interpose/base/process.h"
#include "interpose/base/recently.h"
#include "interpose/calls/at_once.h"
#include "interpose/calls/beside_uses.h"
#include "interpose/calls/device_uses.h"
#include "interpose/calls/issue.h"
#include "interpose/calls/sync.h"
#include "interpose/capture/beside.h"
#include "interpose/capture/captures.h"
#include "interpose/capture/detours.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"
#include "interpose/driver/rows.h"
#include "interpose/driver/wrap.h"
#include "interpose/graph/copy_sides.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/doubts.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "track/copy_manner.h"
#include "track/device.h"
#include "track/device_use.h"
#include "track/history.h"
#include "track/order_calls.h"
#include "track/track.h"
#include "track/track_front.h"
#include "track/track_order.h"
#include "track/track_streams.h"

#include "common/poison.h"

/* One synchronous copy or memset, from before the driver's call. */
struct copy {
    const struct sc_call *call;
    struct sc_copy_sides sides; /* all empty while the library is inactive */
    struct sc_detour detour;
    CUstream stream; /* the detour's private stream; NULL: no detour is made */
    struct sc_sync sync;
    struct sc_stream_record *on;          /* the stream that has the copy; NULL: not known */
    struct sc_stream_record *used_on;     /* where uses of device memory are noted; NULL: nowhere */
    struct sc_context *other_contexts[2]; /* other devices' contexts, whose legacy streams have the
                                             copy as well; NULL: none */
    bool is_unsure;                       /* what the copy comes after is not known */
};

/* Returns the stream on which a synchronous copy is made: the legacy stream, or for the _ptds
 * variants the calling thread's own default stream. NULL: the library is inactive. */
static struct sc_stream_record *default_stream(const struct copy *copy)
{
    return sc_active() ? sc_streams_find(NULL, copy->call->per_thread) : NULL;
}

/* Compares one side, if it is host memory, with the operations in flight: reports those that the
 * call would race with, and in mode=fix waits for them. Device memory is judged by judge_uses. */
static void judge_side(const struct copy *copy, struct sc_stream_record *stream,
                       enum sc_touch touch, const struct sc_copy_side *side)
{
    if (!side->device && sc_shape_hull_bytes(&side->shape))
        sc_at_once(&(struct sc_at_once){
            .call = copy->call,
            .stream = stream,
            .touch = touch,
            .shape = side->shape,
            .fold = side->fold,
        });
}

/* Judges what the copy does to host memory, if anything is in flight at all. Called before a detour
 * (the copy is made on a private stream while a blocking stream captures) begins, since the host
 * may have to wait here: within a detour, a thread that begins a capture waits for this one, and
 * only for a millisecond. */
static void judge_sides(const struct copy *copy)
{
    struct sc_stream_record *stream = sc_at_once_is_idle() ? NULL : default_stream(copy);
    if (!stream)
        return;
    judge_side(copy, stream, SC_TOUCH_READ, &copy->sides.src);
    judge_side(copy, stream, SC_TOUCH_WRITE, &copy->sides.dst);
}

/* Returns when the driver reads and writes the two sides of a synchronous copy, and whether the
 * call waits for its stream. */
static struct sc_copy_manner manner_of_copy(const struct copy *copy)
{
    return sc_copy_sides_manner(&copy->sides, SC_COPY_SYNC, /*in_place=*/false);
}

/* Does the call return only when its stream's earlier work is done? */
static bool blocks_host(const struct copy *copy)
{
    return manner_of_copy(copy).waits;
}

/* Is it a peer copy, which names two contexts? Such a copy comes after all earlier work in them, in
 * any stream, and before all later work (cuda_runtime_api.h, cudaMemcpyPeer). So it races with no
 * use of device memory there, and orders all other uses there (order_contexts). */
static bool is_serialized(const struct copy *copy)
{
    return copy->sides.is_serialized;
}

/* Returns what the copy does with device memory. */
static struct sc_device_uses uses_of(const struct copy *copy)
{
    struct sc_device_uses uses = {.count = 0};
    sc_copy_sides_add_device(&copy->sides, &uses);
    return uses;
}

/* Judges what a copy for which the host waits does with device memory, if that is watched: in
 * mode=fix the host first waits for what conflicts. Called before a detour begins, since a wait
 * within one would hold up threads that begin a capture. Other copies are judged by begin_uses.
 * Left out are copies that come after everything (peer copies), whose order is not known, or that
 * the driver refuses, since their default stream captures. */
static void judge_uses(const struct copy *copy)
{
    if (!sc_track_watches_device(&sc_track) || copy->sides.is_empty || !blocks_host(copy) ||
        is_serialized(copy) || copy->is_unsure)
        return;
    struct sc_stream_record *stream = default_stream(copy);
    if (!stream || sc_streams_is_captured(stream))
        return;
    const struct sc_device_uses uses = uses_of(copy);
    sc_device_uses_judge(&uses, copy->call, stream, SC_HEALED_BY_WAIT);
}

/* Called before a copy to the host: compares, for the last time, sources of earlier copies in the
 * memory that it writes. A later comparison would take the copy's write for the program's. */
static void seal_target(const struct copy *copy)
{
    const struct sc_copy_side *written = &copy->sides.dst;
    if (written->used)
        sc_issue_seal(copy->call, written->shape.address, sc_shape_hull_bytes(&written->shape));
}

/* Called before the driver's call, if device memory is watched: remembers on which stream the
 * copy's uses of device memory are to be noted. Those of a copy for which the host does not wait
 * are judged here, and healed by a wait of the stream; judge_uses has judged the others. */
static void begin_uses(struct copy *copy, struct sc_stream_record *stream)
{
    if (!sc_track_watches_device(&sc_track) || is_serialized(copy))
        return;
    const struct sc_device_uses uses = uses_of(copy);
    copy->used_on = uses.count ? stream : NULL;
    if (copy->used_on && !blocks_host(copy) && !copy->is_unsure)
        sc_device_uses_judge(&uses, copy->call, stream, SC_HEALED_BY_EDGE);
}

/* Notes a copy that this thread has made while it captures: it runs at once and is no part of the
 * graph, which may need it (SC305). Nothing is noted while nobody captures, or if the driver has
 * refused the copy. */
static void note_beside(const struct copy *copy, bool is_detour, CUresult result)
{
    if (!sc_beside_needs_calls() || !copy->on || result != CUDA_SUCCESS)
        return;
    const struct sc_device_uses uses = uses_of(copy);
    sc_beside_uses_note_issued(copy->call, copy->on, &uses, /*is_async=*/false, is_detour);
}

/* Called before a copy for which the host does not wait, such as one within the device: begins it
 * as a call on its stream, and notes its time. */
static void begin_device_work(struct sc_sync *sync, struct sc_stream_record *stream)
{
    sc_unfinished_legacy(stream);
    sc_track_begin_call(&sc_track, stream->id, &sync->ordered);
    sc_marks_note_tail(stream);
}

/* Called before the driver's call, if no detour is made: begins the copy on the default stream.
 * What follows depends on whether the host waits in the call: then all earlier work of the stream
 * will be known done. An empty copy is no work. */
static void begin_call(struct copy *copy)
{
    struct sc_stream_record *stream = copy->sides.is_empty ? NULL : default_stream(copy);
    copy->on = stream;
    copy->sync = (struct sc_sync){0};
    if (!stream)
        return;
    begin_uses(copy, stream);
    if (blocks_host(copy)) {
        seal_target(copy);
        sc_sync_begin_copy(&copy->sync, copy->call, stream, !copy->sides.dst.host);
    } else {
        begin_device_work(&copy->sync, stream);
    }
}

/* Begins a copy that is made on a private stream, since a blocking stream captures (a detour). The
 * private stream comes after all that the legacy stream would wait for, so the copy was judged as
 * one on the legacy stream. */
static void begin_in_detour(struct copy *copy, CUstream handle)
{
    struct sc_stream_record *stream = sc_streams_find(handle, /*per_thread=*/false);
    seal_target(copy);
    if (!stream)
        return;
    SC_TRACKED(sc_order_note_work(track.order, stream->id));
    copy->on = stream;
}

/* Finds the contexts of the two devices between which a copy by addresses is made. Returns false if
 * it is not between two devices: a memset, a peer copy (which names its contexts), a copy with host
 * memory or an array, or one within a device. */
static bool find_devices(const struct copy *copy, struct sc_context *homes[2])
{
    const struct sc_copy_sides *sides = &copy->sides;
    if (sides->is_empty || sides->is_fill || is_serialized(copy) || sides->dst.used ||
        sides->src.used || !sides->dst.shape.address || !sides->src.shape.address)
        return false;
    homes[0] = sc_contexts_at(sides->dst.shape.address);
    homes[1] = homes[0] ? sc_contexts_at(sides->src.shape.address) : NULL;
    return homes[1] && homes[0]->device != homes[1]->device;
}

/* Called before a copy, for one between two devices: notes that it comes after the work of the
 * legacy streams of both, as the driver makes it work of both (docs/driver.md, Two devices). For a
 * copy on a thread's own default stream that order is not known, and neither while a stream
 * captures, when the copy may be made on a private stream: then nothing is judged (`is_unsure`). */
static void join_other_devices(struct copy *copy)
{
    struct sc_context *homes[2];
    struct sc_stream_record *stream = default_stream(copy);
    copy->other_contexts[0] = copy->other_contexts[1] = NULL;
    copy->is_unsure = false;
    if (!stream || !find_devices(copy, homes))
        return;
    copy->is_unsure = copy->call->per_thread || sc_captures_any_open();
    for (unsigned i = 0; i < 2 && !copy->is_unsure; i++) {
        if (homes[i]->legacy == stream->id)
            continue;
        copy->other_contexts[i] = homes[i];
        sc_track_note_stream_wait(&sc_track, stream->id, homes[i]->legacy, SC_SCOPE_LEGACY);
    }
}

/* Records an event of the library's on the context's legacy stream, and returns it; NULL: the
 * context has ended, or the driver refuses. The caller destroys it. */
static CUevent record_in_legacy(struct sc_context *context)
{
    CUevent event = NULL;
    if (!sc_contexts_push(context))
        return NULL;
    if (sc_real.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS)
        sc_real.cuEventRecord(event, CU_STREAM_LEGACY);
    sc_contexts_pop();
    return event;
}

/* Called if the driver has refused a copy between two devices: join_other_devices has noted an
 * order that the copy would have made. Makes it true, by a wait for an event, since what was noted
 * cannot be taken back. While a stream captures, such calls could break the capture. */
static void add_join_events(const struct copy *copy)
{
    for (unsigned i = 0; i < 2; i++) {
        if (!copy->other_contexts[i] || sc_captures_any_open())
            continue;
        SC_RELAXED();
        CUevent event = record_in_legacy(copy->other_contexts[i]);
        if (event) {
            sc_real.cuStreamWaitEvent(CU_STREAM_LEGACY, event, 0);
            sc_real.cuEventDestroy_v2(event);
        }
    }
}

/* Called before the driver's call: judges the copy and begins it. Returns true if a blocking stream
 * captures, so that a copy on the legacy stream would break the capture: the caller then makes it
 * by the asynchronous function on the private stream copy->stream, and ends it by end_in_detour. */
static bool begin_copy_or_detour(struct copy *copy)
{
    uint64_t doubts_before = sc_doubts_raised();
    join_other_devices(copy);
    judge_sides(copy);
    judge_uses(copy);
    sc_doubts_call_begins(doubts_before);
    copy->stream = NULL;
    copy->used_on = NULL;
    copy->on = NULL;
    sc_detour_begin(&copy->detour, copy->call, &copy->stream);
    bool is_moved = sc_detour_is_taken(&copy->detour);
    if (is_moved)
        begin_in_detour(copy, copy->stream);
    else
        begin_call(copy);
    return is_moved;
}

/* Ends a copy that was made by the asynchronous function on a private stream (a detour): waits for
 * it, since the program has called a synchronous function. Returns what the program gets. */
static CUresult end_in_detour(struct copy *copy, CUresult result)
{
    CUresult waited = result == CUDA_SUCCESS ? sc_sync_stream(copy->call, copy->stream) : result;
    note_beside(copy, /*is_detour=*/true, result);
    return sc_detour_end(&copy->detour, sc_wrap_check_answer(copy->call, waited));
}

/* Adds an accepted copy to the history, from which the post-mortem of a lost context is written.
 * Its number there is 0 if the host has waited for it, as it is done; else that of the stream's
 * next operation, before which it is done. */
static void note_in_history(const struct copy *copy)
{
    const struct sc_copy_sides *sides = &copy->sides;
    sc_recently_issued(copy->call->api, copy->call->site, copy->on->id, sc_ticks(),
                       copy->sync.on ? 0 : sc_track_issued(&sc_track, copy->on->id) + 1,
                       (struct sc_history_entry){
                           .direction = sc_copy_sides_direction(sides),
                           .address = sides->dst.shape.address,
                           .source = sides->src.shape.address,
                           .size_bytes = sc_shape_hull_bytes(&sides->dst.shape),
                       });
}

/* Is it a peer copy between two contexts that are known, whose work it orders? */
static bool orders_contexts(const struct copy *copy)
{
    return copy->sides.ordered_contexts[0] || copy->sides.ordered_contexts[1];
}

/* Called behind a peer copy: later work in the two contexts comes after all earlier work there, so
 * what is remembered of uses of device memory there, and in the current context, can conflict with
 * nothing any more and is forgotten. */
static void order_contexts(const struct copy *copy)
{
    const struct sc_context *current = sc_contexts_current();
    const uint32_t contexts[] = {
        copy->sides.ordered_contexts[0],
        copy->sides.ordered_contexts[1],
        current ? current->legacy : 0,
    };
    SC_TRACKED(sc_device_forget_of_contexts(track.inflight, contexts, 3));
}

/* Called when the driver has answered a copy on the default stream. Of an accepted one, records its
 * uses of device memory (unless they are done within the call), that the legacy streams of two
 * devices come after it, and what a peer copy orders. Returns what the program gets. */
static CUresult end_call(struct copy *copy, CUresult result)
{
    uint64_t place = sc_order_place(&copy->sync.ordered);
    note_beside(copy, /*is_detour=*/false, result);
    sc_sync_end(&copy->sync, result);
    if (copy->on && !copy->sync.on)
        sc_marks_note_tail(copy->on);
    if (copy->on && result == CUDA_SUCCESS)
        note_in_history(copy);
    if (copy->used_on && result == CUDA_SUCCESS && manner_of_copy(copy).written != SC_IN_CALL) {
        const struct sc_device_uses uses = uses_of(copy);
        sc_device_uses_note(&uses, copy->call, copy->used_on, place);
    }
    for (unsigned i = 0; i < 2 && copy->on && result == CUDA_SUCCESS; i++)
        if (copy->other_contexts[i])
            sc_track_note_stream_wait(&sc_track, copy->other_contexts[i]->legacy, copy->on->id,
                                      sc_streams_scope(copy->on));
    if (orders_contexts(copy) && copy->on && result == CUDA_SUCCESS)
        order_contexts(copy);
    CUresult answer = sc_detour_end(&copy->detour, result);
    if (result != CUDA_SUCCESS)
        add_join_events(copy);
    return answer;
}

/* Returns the two sides of a copy of so many bytes. */
static struct sc_copy_sides sides_of(struct sc_copy_side dst, struct sc_copy_side src, size_t bytes)
{
    return (struct sc_copy_sides){.src = src, .dst = dst, .is_empty = bytes == 0};
}

/* Returns the sides as those of a peer copy, with the contexts whose work it orders, which matter
 * only where device memory is watched. Within one context such a copy does not wait for
 * non-blocking streams, although its contract says so (docs/driver.md, Synchronous copies): it
 * orders nothing. */
static struct sc_copy_sides as_peer_copy(struct sc_copy_sides sides, CUcontext dst, CUcontext src)
{
    sides.is_serialized = true;
    if (dst == src || !sc_track_watches_device(&sc_track))
        return sides;
    const struct sc_context *to = sc_contexts_named(dst), *from = sc_contexts_named(src);
    sides.ordered_contexts[0] = to ? to->legacy : 0;
    sides.ordered_contexts[1] = from ? from->legacy : 0;
    return sides;
}

/* Returns the sides of a memset, which has no source. `fill`: its value as a word of four bytes
 * (sc_device_use_fill). */
static struct sc_copy_sides fill_sides(CUdeviceptr dst, size_t pitch, size_t width_bytes,
                                       size_t rows, uint32_t fill)
{
    struct sc_copy_sides sides = {
        .dst = sc_copy_side_at(SC_SIDE_KNOWN, dst, width_bytes),
        .is_empty = width_bytes * rows == 0,
        .is_fill = true,
        .fill = fill,
    };
    sides.dst.shape.pitch_bytes = pitch;
    sides.dst.shape.rows = rows;
    sides.dst.used = sides.dst.used && rows;
    return sides;
}

/* Makes a copy with CUDA arrays on a private stream (a detour). The driver has no asynchronous
 * counterpart of the synchronous functions for arrays but the 2D copy, of one row here. */
static CUresult copy_2d_async(CUmemorytype dst_type, CUdeviceptr dst, CUarray dst_array,
                              size_t dst_x, CUmemorytype src_type, CUdeviceptr src,
                              CUarray src_array, size_t src_x, size_t bytes, CUstream stream)
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
    return sc_real.cuMemcpy2DAsync_v2(&copy, stream);
}

/* Stands in for cuMemcpyDtoA on a private stream: device memory to an array. */
static CUresult dtoa_async(CUarray dst, size_t offset, CUdeviceptr src, size_t bytes,
                           CUstream stream)
{
    return copy_2d_async(CU_MEMORYTYPE_ARRAY, 0, dst, offset, CU_MEMORYTYPE_DEVICE, src, NULL, 0,
                         bytes, stream);
}

/* Stands in for cuMemcpyAtoD on a private stream: an array to device memory. */
static CUresult atod_async(CUdeviceptr dst, CUarray src, size_t offset, size_t bytes,
                           CUstream stream)
{
    return copy_2d_async(CU_MEMORYTYPE_DEVICE, dst, NULL, 0, CU_MEMORYTYPE_ARRAY, 0, src, offset,
                         bytes, stream);
}

/* Stands in for cuMemcpyAtoA on a private stream: an array to an array. */
static CUresult atoa_async(CUarray dst, size_t dst_offset, CUarray src, size_t src_offset,
                           size_t bytes, CUstream stream)
{
    return copy_2d_async(CU_MEMORYTYPE_ARRAY, 0, dst, dst_offset, CU_MEMORYTYPE_ARRAY, 0, src,
                         src_offset, bytes, stream);
}

#define SIDE(as, address, bytes) sc_copy_side_at(SC_SIDE_##as, (uintptr_t)(address), bytes)
#define BETWEEN(to, dst, from, src, bytes)                                                         \
    sides_of(SIDE(to, dst, bytes), SIDE(from, src, bytes), bytes)
#define SIDES_TO_DEVICE(dst, src, bytes) BETWEEN(DEVICE, dst, HOST, src, bytes)
#define SIDES_TO_HOST(dst, src, bytes) BETWEEN(HOST, dst, DEVICE, src, bytes)
#define SIDES_ON_DEVICE(dst, src, bytes) BETWEEN(KNOWN, dst, KNOWN, src, bytes)
#define SIDES_ANYWHERE(dst, src, bytes) BETWEEN(UNIFIED, dst, UNIFIED, src, bytes)
#define SIDES_PEERS(dst, dst_context, src, src_context, bytes)                                     \
    as_peer_copy(SIDES_ON_DEVICE(dst, src, bytes), dst_context, src_context)
#define SIDES_PEERS_BOX(copy)                                                                      \
    (copy) ? as_peer_copy(sc_copy_sides_of_3d_peer(copy), (copy)->dstContext, (copy)->srcContext)  \
           : (struct sc_copy_sides)                                                                \
    {                                                                                              \
        0                                                                                          \
    }
#define SIDES_ROWS(copy) sc_copy_sides_of_2d(copy)
#define SIDES_BOX(copy) sc_copy_sides_of_3d(copy)
#define SIDES_READS_HOST(src, bytes) sides_of(NO_SIDE, SIDE(HOST, src, bytes), bytes)
#define SIDES_WRITES_HOST(dst, bytes) sides_of(SIDE(HOST, dst, bytes), NO_SIDE, bytes)
#define SIDES_READS_DEVICE(src, bytes) sides_of(NO_SIDE, SIDE(KNOWN, src, bytes), bytes)
#define SIDES_WRITES_DEVICE(dst, bytes) sides_of(SIDE(KNOWN, dst, bytes), NO_SIDE, bytes)
#define SIDES_ARRAYS(bytes) sides_of(NO_SIDE, NO_SIDE, bytes)
#define SIDES_FILLS(dst, count, value)                                                             \
    SIDES_FILLS_ROWS(dst, (count) * sizeof(value), count, 1, value)
#define SIDES_FILLS_ROWS(dst, pitch, count, rows, value)                                           \
    fill_sides(dst, pitch, (count) * sizeof(value), rows, sc_device_use_fill(value, sizeof(value)))
#define NO_SIDE ((struct sc_copy_side){0})
#define WITH_STREAM(...) (__VA_ARGS__, copy.stream)

#define SC_COPIES(name, suffix, version, per_thread_version, replay, arguments, in_stream, uses)   \
    SC_PAIR(name##suffix, _ptds, SC_PARAMETERS(name##suffix, arguments), arguments)                \
    {                                                                                              \
        struct copy copy;                                                                          \
        copy.call = call;                                                                          \
        copy.sides = sc_active() ? SIDES_##uses : (struct sc_copy_sides){0};                       \
        if (begin_copy_or_detour(&copy))                                                           \
            return end_in_detour(&copy, in_stream WITH_STREAM arguments);                          \
        return end_call(&copy, real arguments);                                                    \
    }
#include "interpose/driver/api.def"
