#include "interpose/calls/uploads.h"

#include "common/op_kinds.h"
#include "common/ticks.h"
#include "interpose/base/compiler.h"
#include "interpose/base/own_stack.h"
#include "interpose/base/process.h"
#include "interpose/base/recently.h"
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
#include "track/history.h"
#include "track/staging.h"
#include "track/stream_front.h"
#include "track/track_front.h"
#include "track/track_ops.h"
#include "track/track_parts.h"
#include "track/track_uploads.h"

#include "common/poison.h"

/* Records an upload that the driver has accepted. */
static void record_upload(const struct sc_call *call, struct sc_stream_record *stream,
                          struct sc_upload *upload)
{
    SC_KEEP_ERRNO();
    SC_ISSUED(issued);
    upload->api = call->api;
    upload->ticks = sc_ticks();
    upload->stack = sc_unwind_here(call->site);
    upload->thread = sc_thread_id();
    uint64_t number = sc_track_issue_upload(&sc_track, upload, &issued);
    if (sc_unlikely(issued.conflicts.count || issued.overwritten.count))
        sc_issue_report_late(call, stream, &issued, number);
    sc_recently_issued(call->api, call->site, upload->stream, upload->ticks, number,
                       (struct sc_history_entry){.stack = upload->stack,
                                                 .direction = SC_H2D,
                                                 .address = upload->target,
                                                 .source = upload->source,
                                                 .size_bytes = upload->size_bytes});
    sc_guard_apply(SC_GUARD_OWN);
    sc_marks_issued(stream, upload->size_bytes, /*snapshotted=*/true, upload->ticks);
}

/* Is nothing at work that may write the source, no device memory watched, and no wait for the host
 * unseen? */
SC_INLINED bool is_simple(struct sc_stream_record *stream)
{
    return !sc_track_watches_device(&sc_track) && !sc_track_attends(SC_ATTENDS_UNSEEN_WAITS) &&
           sc_unfinished_is_clear(stream);
}

bool sc_uploads_make(enum sc_simplicity least, const char *api, void *site, bool per_thread,
                     CUresult *result, CUdeviceptr target, const void *source, size_t size_bytes,
                     CUstream handle)
{
    sc_own_stack_learn();
    struct sc_stream_record *stream =
        sc_streams_find_simple(least, handle, SC_TIE_KIND | SC_TIE_DUE);
    if (!stream || !is_simple(stream))
        return false;
    struct sc_upload upload;
    upload.stream = stream->id;
    upload.source = (uintptr_t)source;
    upload.target = target;
    upload.size_bytes = size_bytes;
    if (!sc_snapshots_begin_upload(stream->context, &upload))
        return false;
    *result = sc_real.cuMemcpyHtoDAsync_v2(target, upload.slot->bytes, size_bytes, handle);
    if (sc_likely(*result == CUDA_SUCCESS)) {
        record_upload(&(const struct sc_call){api, site, per_thread}, stream, &upload);
    } else {
        sc_snapshots_return(upload.slot);
        sc_detour_refused(api, site, per_thread, *result);
    }
    return true;
}
