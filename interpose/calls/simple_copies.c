#include "interpose/calls/simple_copies.h"

#include "common/op_kinds.h"
#include "common/ticks.h"
#include "interpose/base/compiler.h"
#include "interpose/base/own_stack.h"
#include "interpose/base/process.h"
#include "interpose/base/recently.h"
#include "interpose/base/unwind.h"
#include "interpose/calls/issue.h"
#include "interpose/calls/issue_ops.h"
#include "interpose/capture/detours.h"
#include "interpose/driver/call.h"
#include "interpose/driver/driver.h"
#include "interpose/guard/door.h"
#include "interpose/memory/snapshots.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/hazards.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/simple_streams.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "track/history.h"
#include "track/no_verdicts.h"
#include "track/simple_copies.h"
#include "track/staging.h"
#include "track/stream_front.h"
#include "track/track.h"
#include "track/track_front.h"
#include "track/track_ops.h"
#include "track/track_parts.h"
#include "track/track_ranges.h"

#include "common/poison.h"

/* Its pages are to be chosen, or something has come in between. */
static __attribute__((noinline)) uint64_t record_as_any(const struct sc_call *call,
                                                        struct sc_stream_record *stream,
                                                        const struct sc_simple_copy *copy)
{
    struct sc_issue issue;
    struct sc_issue_ops ops;
    sc_issue_on(&issue, call, stream);
    ops.count = 1;
    sc_track_describe_simply(&sc_track, copy, &ops.of[0]);
    sc_issue_record(&issue, &ops, copy->stack, copy->ticks);
    return ops.of[0].ticket.number;
}

/* Returns the operation's number. */
SC_INLINED uint64_t record(const struct sc_call *call, struct sc_stream_record *stream,
                           const struct sc_simple_copy *copy)
{
    SC_ISSUED(issued);
    uint64_t number = sc_track_issue_simply(&sc_track, copy, &issued);
    if (sc_unlikely(issued.overwritten.count))
        sc_hazards_report_overwritten(&issued.overwritten, SC_CULPRIT_OF(call));
    if (!number)
        return record_as_any(call, stream, copy);
    if (!copy->slot && !copy->is_guarded)
        sc_no_verdicts_note_unwatched(sc_track_parts.no_verdicts, SC_NO_VERDICT_OFF,
                                      copy->size_bytes);
    return number;
}

SC_INLINED void end(const struct sc_call *call, struct sc_stream_record *stream,
                    struct sc_simple_copy *copy)
{
    SC_KEEP_ERRNO();
    bool is_up = copy->direction == SC_H2D;
    copy->api = call->api;
    copy->ticks = sc_ticks();
    copy->stack = sc_unwind_here(call->site);
    copy->thread = sc_thread_id();
    uint64_t number = record(call, stream, copy);
    sc_recently_issued(
        call->api, call->site, copy->stream, copy->ticks, number,
        (struct sc_history_entry){.stack = copy->stack,
                                  .direction = copy->direction,
                                  .address = is_up ? copy->device : copy->host,
                                  .source = is_up ? copy->host : copy->device,
                                  .size_bytes = copy->size_bytes});
    sc_guard_apply(SC_GUARD_OWN);
    sc_marks_issued(stream, copy->size_bytes, is_up, copy->ticks);
}

static __attribute__((noinline)) void end_any(const struct sc_call *call, CUresult result,
                                              struct sc_stream_record *stream,
                                              struct sc_simple_copy *copy)
{
    if (sc_likely(result == CUDA_SUCCESS)) {
        end(call, stream, copy);
        return;
    }
    if (copy->slot)
        sc_snapshots_return(copy->slot);
    sc_detour_refused(call->api, call->site, call->per_thread, result);
}

/* No device memory is watched, and no wait is to be looked at. */
SC_INLINED struct sc_stream_record *find(enum sc_simplicity least, CUstream handle)
{
    sc_own_stack_learn();
    struct sc_stream_record *stream =
        sc_streams_find_simple(least, handle, SC_TIE_KIND | SC_TIE_DUE);
    bool is_simple = stream && !sc_track_watches_device(&sc_track) &&
                     !sc_track_attends(SC_ATTENDS_UNSEEN_WAITS);
    return is_simple ? stream : NULL;
}

/* Nothing is at work that may write the source. */
bool sc_simple_copies_up(enum sc_simplicity least, const char *api, void *site, bool per_thread,
                         CUresult *result, CUdeviceptr target, const void *source,
                         size_t size_bytes, CUstream handle)
{
    struct sc_stream_record *stream = find(least, handle);
    if (!stream || !sc_unfinished_is_clear(stream))
        return false;
    struct sc_simple_copy copy;
    copy.direction = SC_H2D;
    copy.stream = stream->id;
    copy.host = (uintptr_t)source;
    copy.device = target;
    copy.size_bytes = size_bytes;
    if (!sc_snapshots_begin_upload(stream->context, &copy))
        return false;
    *result = sc_real.cuMemcpyHtoDAsync_v2(target, copy.slot->bytes, size_bytes, handle);
    end_any(&(const struct sc_call){api, site, per_thread}, *result, stream, &copy);
    return true;
}

bool sc_simple_copies_down(enum sc_simplicity least, const char *api, void *site, bool per_thread,
                           CUresult *result, void *target, CUdeviceptr source, size_t size_bytes,
                           CUstream handle)
{
    struct sc_stream_record *stream = find(least, handle);
    if (!stream || sc_options.guard_budget)
        return false;
    struct sc_simple_copy copy;
    copy.direction = SC_D2H;
    copy.stream = stream->id;
    copy.host = (uintptr_t)target;
    copy.device = source;
    copy.size_bytes = size_bytes;
    copy.is_guarded = sc_options.guard != SC_GUARD_OFF;
    if (!sc_track_begin_download(&sc_track, &copy))
        return false;
    const struct sc_call call = {api, site, per_thread};
    if (sc_track_may_seal(&sc_track, copy.range, SC_PINNED))
        sc_issue_seal(&call, copy.host, size_bytes);
    *result = sc_real.cuMemcpyDtoHAsync_v2(target, source, size_bytes, handle);
    end_any(&call, *result, stream, &copy);
    return true;
}
