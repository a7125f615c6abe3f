#include "interpose/calls/work.h"

#include "common/op_kinds.h"
#include "common/ticks.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/recently.h"
#include "interpose/base/thread_stack.h"
#include "interpose/capture/detours.h"
#include "interpose/driver/replaying.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/hazards.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/simple_streams.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "track/history.h"
#include "track/inflight_calls.h"
#include "track/op_info.h"
#include "track/ops.h"
#include "track/order_calls.h"
#include "track/stream_front.h"
#include "track/track.h"
#include "track/track_order.h"
#include "track/track_parts.h"
#include "track/track_presence.h"
#include "track/track_streams.h"
#include "track/unseen.h"

#include "common/poison.h"

void sc_work_add_history(const struct sc_call *call, const struct sc_stream_record *stream,
                         uint64_t number, uint64_t ticks)
{
    sc_recently_issued(call->api, call->site, stream->id, ticks, number,
                       (struct sc_history_entry){.direction = SC_NO_DIRECTION});
}

/* Notes work that may write host memory, a kernel or a host function. Returns the time. */
static uint64_t note_may_write(const struct sc_work *work, struct sc_stream_record *stream,
                               uint64_t at_least)
{
    return work->kind & SC_WORK_OF_DEVICE ? sc_unfinished_work(stream, at_least)
                                          : sc_unfinished_host_work(stream);
}

/* Returns the time that the history is to have of work that has been issued. Returns 0 if it has
 * none. */
static inline uint64_t time_of_issue(void)
{
    return sc_options.postmortem ? sc_ticks() : 0;
}

/* Compares sources in managed memory for the last time, since the work may write any of them.
 * `in_order` false: the order of the work is not known, and no such source is compared any more. */
static __attribute__((noinline)) void seal_managed(const struct sc_call *call,
                                                   const struct sc_stream_record *stream,
                                                   const struct sc_point *after, bool in_order)
{
    SC_OPS(overwritten);
    const struct sc_op_info later = {.ticket = {.stream = stream->id}, .after = after};
    SC_TRACKED(sc_inflight_seal_managed(track.inflight, in_order ? &later : NULL, &overwritten));
    if (!sc_replaying_is_on()) /* the work may have written them already */
        sc_hazards_report_overwritten(&overwritten, SC_CULPRIT_OF(call));
}

/* Mostly no operation in flight reads managed memory: one load tells. */
void sc_work_may_write(const struct sc_call *call, struct sc_stream_record *stream,
                       const struct sc_point *after, bool in_order)
{
    if (sc_unlikely(sc_track_attends(SC_ATTENDS_MANAGED_SOURCES)))
        seal_managed(call, stream, after, in_order);
}

/* Returns how near to the work a mark has to be (sc_marks_before_work). */
static enum sc_before mark_wanted_before(unsigned kind)
{
    if (kind & SC_WORK_SIGNALS)
        return SC_BEFORE_SIGNAL;
    return kind & SC_WORK_OF_DEVICE ? SC_BEFORE_DEVICE_WORK : SC_BEFORE_WORK;
}

/* Notes, before a call that issues work other than a copy, what that work may do (`kind`), and
 * begins the call on its stream. */
void sc_work_begin(struct sc_work *work, const struct sc_call *call, CUstream handle, unsigned kind)
{
    sc_thread_stack_learn();
    struct sc_stream_record *stream =
        sc_active() ? sc_streams_find(handle, call->per_thread) : NULL;
    work->call = call;
    work->stream = NULL;
    work->kind = kind;
    work->ordered.stream = 0;
    if (!stream || sc_streams_is_capturing(stream))
        return;
    if (kind & SC_WORK_AWAITS_HOST) {
        sc_unfinished_host_work(stream);
        work->waits_from = SC_TRACKED(sc_unseen_begin(track.order, stream->id));
    } else if (kind & SC_WORK_MAY_WRITE) {
        sc_unfinished_queued(stream, note_may_write(work, stream, 0));
    } else {
        sc_unfinished_legacy(stream);
    }
    if ((kind & SC_WORK_FUNCTION) == SC_WORK_MAY_WRITE &&
        sc_unlikely(sc_track_attends(SC_ATTENDS_MANAGED_SOURCES)))
        seal_managed(call, stream, NULL,
                     sc_track_find_unseen_before(&sc_track, stream->id, NULL).waits == 0);
    sc_marks_before_work(stream, mark_wanted_before(kind));
    sc_track_begin_call(&sc_track, stream->id, &work->ordered);
    if (kind & SC_WORK_SIGNALS)
        SC_TRACKED(sc_order_note_call_signal(track.order, stream->id, &work->ordered,
                                             sc_replaying_follows()));
    work->stream = stream;
}

/* Notes the work once more, as before the call: the driver has it only now. */
CUresult sc_work_end(struct sc_work *work, CUresult result)
{
    if (!work->stream)
        return result;
    uint64_t ticks = 0;
    if (work->ordered.stream)
        sc_track_end_call(&sc_track, &work->ordered, result == CUDA_SUCCESS);
    if (work->kind & SC_WORK_AWAITS_HOST) {
        ticks = sc_unfinished_host_work(work->stream);
        if (result == CUDA_SUCCESS)
            SC_TRACKED(sc_unseen_end(track.order, &work->waits_from));
    } else if (work->kind & SC_WORK_MAY_WRITE) {
        ticks = note_may_write(work, work->stream, time_of_issue());
        if (result == CUDA_SUCCESS)
            sc_unfinished_queued(work->stream, ticks);
    } else {
        sc_unfinished_legacy(work->stream);
    }
    sc_marks_note_tail(work->stream);
    if (result == CUDA_SUCCESS)
        sc_work_add_history(work->call, work->stream,
                            sc_track_issued(&sc_track, work->stream->id) + 1,
                            ticks ? ticks : sc_unfinished_now(work->stream));
    return result;
}

SC_INLINED uint64_t note_simple_work(struct sc_stream_record *stream, uint64_t at_least)
{
    return sc_likely(stream->kind == SC_STREAM_NONBLOCKING)
               ? sc_unfinished_simple_work(stream, at_least)
               : sc_unfinished_queued_work(stream, at_least);
}

/* Returns NULL also if a mark is needed before the work, or if sources in managed memory are in
 * flight, which the work may write. */
struct sc_stream_record *sc_work_begin_simple_launch(enum sc_simplicity least, CUstream handle,
                                                     bool per_thread)
{
    sc_thread_stack_learn();
    struct sc_stream_record *stream =
        sc_streams_find_any_simple(least, handle, per_thread, SC_TIE_KIND | SC_TIE_DUE);
    if (!stream || sc_unlikely(sc_track_attends(SC_ATTENDS_MANAGED_SOURCES)) ||
        !sc_marks_before_simple_work(stream))
        return NULL;
    note_simple_work(stream, 0);
    return stream;
}

/* Ends a launch that sc_work_begin_simple_launch has begun. */
void sc_work_end_simple_launch(const char *api, void *site, bool per_thread,
                               struct sc_stream_record *stream, CUresult result)
{
    uint64_t ticks = note_simple_work(stream, time_of_issue());
    if (sc_unlikely(result != CUDA_SUCCESS))
        sc_detour_report_refused(api, site, per_thread, result);
    else
        sc_recently_issued(api, site, stream->id, ticks, sc_stream_front_issued(stream->front) + 1,
                           (struct sc_history_entry){.direction = SC_NO_DIRECTION});
}

/* Notes, before a free on a legacy stream, that the stream gets work. Returns the stream, or NULL,
 * having done nothing, if the stream or the process is not simple, or an operation on host memory
 * has no mark yet. */
struct sc_stream_record *sc_work_begin_legacy_free(enum sc_simplicity least, CUstream handle,
                                                   bool per_thread)
{
    struct sc_stream_record *stream =
        sc_streams_find_simple_legacy(least, handle, per_thread, SC_TIE_KIND | SC_TIE_DUE);
    if (!stream || !sc_marks_cover_simple(stream))
        return NULL;
    sc_unfinished_legacy(stream);
    return stream;
}
