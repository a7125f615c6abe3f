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

/* Adds work other than a copy to the stream's history, from which the post-mortem of a lost context
 * is written: the call and its time, and no memory. `number`: that of the stream's operation with
 * which the work is done. */
void sc_work_add_history(const struct sc_call *call, const struct sc_stream_record *stream,
                         uint64_t number, uint64_t ticks)
{
    sc_recently_issued(call->api, call->site, stream->id, ticks, number,
                       (struct sc_history_entry){.direction = SC_NO_DIRECTION});
}

/* Notes, by its time, work that may write the source of a later copy on the stream: a kernel, or
 * work of the host such as a host function. Returns that time. */
static uint64_t note_may_write(const struct sc_work *work, struct sc_stream_record *stream,
                               uint64_t at_least)
{
    return work->kind & SC_WORK_OF_DEVICE ? sc_unfinished_work(stream, at_least)
                                          : sc_unfinished_host_work(stream);
}

/* Returns the present time for the history, or 0 if there is no history (option postmortem): then
 * the clock is not read. */
static inline uint64_t time_of_issue(void)
{
    return sc_options.postmortem ? sc_ticks() : 0;
}

/* Called before work that may write anywhere in managed memory: compares, for the last time,
 * sources of earlier copies there, and reports those that the program has changed. Later their
 * change may be the work's. `in_order` false: it is not known which copies the work comes after, so
 * none of these sources is compared any more. */
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

/* Called before a launch that may write anywhere in managed memory: compares sources there for the
 * last time (seal_managed). Mostly no operation in flight reads managed memory: one load tells. */
void sc_work_may_write(const struct sc_call *call, struct sc_stream_record *stream,
                       const struct sc_point *after, bool in_order)
{
    if (sc_unlikely(sc_track_attends(SC_ATTENDS_MANAGED_SOURCES)))
        seal_managed(call, stream, after, in_order);
}

/* Returns which operations need a mark before such work (sc_marks_before_work): an event behind
 * them, by which their completion is learnt. Work that tells the host something unseen needs most.
 */
static enum sc_before mark_wanted_before(unsigned kind)
{
    if (kind & SC_WORK_SIGNALS)
        return SC_BEFORE_SIGNAL;
    return kind & SC_WORK_OF_DEVICE ? SC_BEFORE_DEVICE_WORK : SC_BEFORE_WORK;
}

/* Called before the driver's call that issues work other than a copy: notes what that work may do
 * (`kind`, SC_WORK_*), and begins the call on its stream. On a stream that captures nothing runs
 * now, so nothing is noted (`work->stream` NULL). Host functions are left out where managed sources
 * are compared: a kernel (MAY_WRITE without TELLS) writes those. */
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

/* Called when the driver has answered: notes the work once more, as before the call. A wait of
 * another thread for the stream, in between, would else seem to cover it, although the driver has
 * the work only now. Accepted work is added to the history. Returns `result`. */
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

/* Notes the time of a kernel that goes the quick way: on a non-blocking stream for that stream
 * alone, else also for the streams that come after it. Returns the time. */
SC_INLINED uint64_t note_simple_work(struct sc_stream_record *stream, uint64_t at_least)
{
    return sc_likely(stream->kind == SC_STREAM_NONBLOCKING)
               ? sc_unfinished_simple_work(stream, at_least)
               : sc_unfinished_queued_work(stream, at_least);
}

/* Called before the driver's call of a kernel launch: if the launch merely has to be noted as work
 * of its stream, notes it and returns the stream. NULL: the general way is needed, since the stream
 * waits for another one, a mark is due before the kernel, or copies in flight read managed memory,
 * which the kernel may write. */
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

/* Called when the driver has answered a launch that sc_work_begin_simple_launch has begun: notes it
 * once more, as a wait of another thread may have begun meanwhile, and adds it to the history; or
 * reports a refusal because of a capture. */
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

/* Called before a free in the order of the legacy stream: notes that the stream gets work, and
 * returns it, if nothing else has to be done. NULL, having done nothing: the general way is needed,
 * since the stream waits for another one, or an operation on host memory has no mark behind it yet.
 */
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
