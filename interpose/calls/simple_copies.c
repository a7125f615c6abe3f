#include "interpose/calls/simple_copies.h"

#include "common/op_kinds.h"
#include "common/points.h"
#include "common/ticks.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/recently.h"
#include "interpose/base/thread_stack.h"
#include "interpose/base/unwind.h"
#include "interpose/calls/issue.h"
#include "interpose/capture/detours.h"
#include "interpose/driver/call.h"
#include "interpose/driver/driver.h"
#include "interpose/guard/door.h"
#include "interpose/memory/snapshots.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/simple_streams.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "report/options.h"
#include "track/history.h"
#include "track/staging.h"
#include "track/stream_front.h"
#include "track/track_copies.h"
#include "track/track_front.h"
#include "track/track_parts.h"
#include "track/track_ranges.h"

#include "common/poison.h"

/* Notes the time of a copy on the legacy stream, or on a blocking stream. Other streams of the
 * context come after such a copy: the driver may read the source of a later copy there too early
 * (sc_unfinished_is_hidden), and the times tell so. On the legacy stream the time was noted before
 * the call, too. It is noted again, since a wait of another thread that began in between would
 * seem to cover the copy. */
static __attribute__((noinline)) void note_in_family(struct sc_stream_record *stream,
                                                     const struct sc_simple_copy *copy)
{
    sc_unfinished_legacy(stream);
    sc_unfinished_queued(stream, copy->ticks);
    if (copy->to_host)
        sc_unfinished_written(stream);
}

/* Records a copy that the driver has accepted: as an operation in flight with its time and stack,
 * in the history (for the post-mortem), and by a mark (an event of the library's behind it) if one
 * is due. Pages are protected for a copy to the host alone: an upload reads a snapshot, so the
 * program may write its source at once. */
SC_INLINED void record_copy(const struct sc_call *call, struct sc_stream_record *stream,
                            struct sc_simple_copy *copy, bool to_host)
{
    SC_KEEP_ERRNO();
    copy->api = call->api;
    copy->ticks = sc_ticks();
    copy->stack = sc_unwind_here(call->site);
    copy->thread = sc_thread_id();
    uint64_t number = sc_issue_record_simple_copy(call, stream, copy);
    sc_recently_issued(call->api, call->site, copy->stream, copy->ticks, number,
                       (struct sc_history_entry){.stack = copy->stack,
                                                 .direction = to_host ? SC_D2H : SC_H2D,
                                                 .address = to_host ? copy->host : copy->device,
                                                 .source = to_host ? copy->device : copy->host,
                                                 .size_bytes = copy->size_bytes});
    if (to_host)
        sc_guard_apply(SC_GUARD_OWN);
    if (sc_unlikely(stream->kind != SC_STREAM_NONBLOCKING))
        note_in_family(stream, copy);
    sc_marks_issued(stream, copy->size_bytes, !to_host, copy->ticks);
}

/* Returns false if a rare state asks for the general way: option device=1, which compares what
 * copies do to device memory; a wait of the device for the host whose end cannot be seen, behind
 * which no copy is judged; guard_budget, which measures each protection; or an upload too large for
 * a snapshot. */
SC_INLINED bool is_simple(bool to_host, size_t size_bytes)
{
    return !sc_track_watches_device(&sc_track) && !sc_track_attends(SC_ATTENDS_UNSEEN_WAITS) &&
           (to_host ? !sc_options.guard_budget : size_bytes <= sc_options.snapshot_max_bytes);
}

/* Prepares a copy before the driver's call. Returns false, having done nothing, if the copy has to
 * go the general way. An upload takes a snapshot of its source, so no kernel or host function that
 * may still write the source may be unfinished. A copy to the host overwrites bytes: sources of
 * other copies there are compared for the last time. */
SC_INLINED bool begin(const struct sc_call *call, struct sc_stream_record *stream,
                      struct sc_simple_copy *copy, bool to_host)
{
    if (!to_host)
        return sc_unfinished_is_clear(stream) && sc_snapshots_begin_upload(stream->context, copy);
    if (!sc_track_begin_simple_copy(&sc_track, NULL, copy))
        return false;
    if (sc_track_may_seal(&sc_track, copy->range, SC_PINNED))
        sc_issue_seal(call, copy->host, copy->size_bytes);
    return true;
}

/* Calls the driver. An upload reads the snapshot and not the program's buffer. */
SC_INLINED CUresult make(const struct sc_simple_copy *copy, bool to_host, CUstream handle)
{
    return to_host ? sc_real.cuMemcpyDtoHAsync_v2((void *)copy->host, copy->device,
                                                  copy->size_bytes, handle)
                   : sc_real.cuMemcpyHtoDAsync_v2(copy->device, copy->slot->bytes, copy->size_bytes,
                                                  handle);
}

/* Makes a copy between pinned host memory and the device with few look-ups, if its stream waits for
 * no other stream and nothing in flight conflicts with it. Returns false, having done nothing, if
 * the wrapper has to go the general way; true: the driver was called, with its answer in `*result`.
 * A copy that the driver refuses is not recorded, and its snapshot is released. */
SC_INLINED bool make_simply(enum sc_simplicity least, const char *api, void *site, bool per_thread,
                            CUresult *result, bool to_host, const void *host, CUdeviceptr device,
                            size_t size_bytes, CUstream handle)
{
    sc_thread_stack_learn();
    struct sc_stream_record *stream =
        sc_streams_find_any_simple(least, handle, per_thread, SC_TIE_KIND | SC_TIE_DUE);
    if (!stream || !is_simple(to_host, size_bytes))
        return false;
    const struct sc_call call = {api, site, per_thread};
    struct sc_simple_copy copy;
    copy.to_host = to_host;
    if (to_host)
        copy.is_guarded = sc_options.guard != SC_GUARD_OFF;
    copy.stream = stream->id;
    copy.host = (uintptr_t)host;
    copy.device = device;
    copy.size_bytes = size_bytes;
    if (!begin(&call, stream, &copy, to_host))
        return false;
    if (sc_unlikely(stream->kind == SC_STREAM_LEGACY))
        sc_unfinished_legacy(stream); /* blocking streams come after the copy */
    *result = make(&copy, to_host, handle);
    if (sc_likely(*result == CUDA_SUCCESS)) {
        record_copy(&call, stream, &copy, to_host);
        return true;
    }
    if (!to_host)
        sc_snapshots_refuse(&copy);
    sc_detour_report_refused(api, site, per_thread, *result);
    return true;
}

bool sc_simple_copies_upload(enum sc_simplicity least, const char *api, void *site, bool per_thread,
                             CUresult *result, CUdeviceptr target, const void *source,
                             size_t size_bytes, CUstream stream)
{
    return make_simply(least, api, site, per_thread, result, /*to_host=*/false, source, target,
                       size_bytes, stream);
}

bool sc_simple_copies_download(enum sc_simplicity least, const char *api, void *site,
                               bool per_thread, CUresult *result, void *target, CUdeviceptr source,
                               size_t size_bytes, CUstream stream)
{
    return make_simply(least, api, site, per_thread, result, /*to_host=*/true, target, source,
                       size_bytes, stream);
}
