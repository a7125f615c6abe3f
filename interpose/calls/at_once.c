#include "interpose/calls/at_once.h"

#include "common/hazard_words.h"
#include "common/now.h"
#include "common/ticks.h"
#include "interpose/base/process.h"
#include "interpose/driver/call.h"
#include "interpose/driver/replaying.h"
#include "interpose/guard/door.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/edges.h"
#include "interpose/reaper/excuses.h"
#include "interpose/reaper/hazards.h"
#include "interpose/reaper/nvtx.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/host_functions.h"
#include "interpose/streams/marks.h"
#include "report/options.h"
#include "track/no_verdicts.h"
#include "track/op_info.h"
#include "track/ops.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_parts.h"

#include "common/poison.h"

/* How long a wait for an operation lasts before the host functions and kernels are looked at. */
enum { LOOK_EVERY_NS = 10 * 1000 * 1000 };

/* Returns what is done about a conflict with the operation, for the report. `heals`: mode=fix, and
 * the driver has not made the call yet. A source that the device reads from a snapshot cannot be
 * damaged, so nobody waits for it. */
static enum sc_action action_on(const struct sc_op_info *op, bool heals)
{
    if (!heals || !sc_hazards_heals(op))
        return SC_ACTION_REPORTED;
    return sc_ops_is_copied(op) ? SC_ACTION_SNAPSHOTTED : SC_ACTION_STALLED;
}

/* Counts touches (accesses of the driver within a call) on which no verdict is given, for the
 * summary. */
static void count_unjudged_touches(enum sc_no_verdict_reason reason, unsigned count)
{
    sc_no_verdicts_add(sc_track_parts.no_verdicts, SC_NO_VERDICT_TOUCHES, reason, count);
}

/* Reports each operation in flight with which the touch conflicts. A kernel that was found to wait
 * for the program is left out: the touch may be what it waits for. It counts as not judged, and so
 * do conflicts beyond the few that the list has room for. */
static void report_each(const struct sc_at_once *touch, const struct sc_ops *conflicts, bool heals)
{
    for (unsigned i = 0; i < sc_ops_count_kept(conflicts); i++)
        if (sc_excuses_kernel_is_waiting(&conflicts->ops[i].ticket))
            count_unjudged_touches(SC_NO_VERDICT_WAITING_KERNEL, 1);
        else
            sc_hazards_report_order(sc_hazards_touch_code(&conflicts->ops[i], touch->touch),
                                    action_on(&conflicts->ops[i], heals), conflicts, i,
                                    &(struct sc_later){.ticket = {.stream = touch->stream->id}},
                                    SC_CULPRIT_OF(touch->call));
    count_unjudged_touches(SC_NO_VERDICT_ROOM, conflicts->count - sc_ops_count_kept(conflicts));
}

/* Returns true if the operation seems to wait for what the call is about to write, and notes that
 * it does (sc_excuses_kernel_waits). Only a kernel, or a part of a launch that may not take place,
 * can: it counts as waiting if its stream makes no progress for a while. `stand`: how far the
 * stream was, from call to call. */
static bool note_if_waiting(const struct sc_op_info *op, struct sc_excuses_stand *stand)
{
    if (!sc_ops_is_possible(op) || op->kind == SC_DEVICE ||
        !sc_excuses_kernel_is_stuck(stand, op->ticket.stream))
        return false;
    sc_excuses_kernel_waits(&op->ticket);
    return true;
}

/* Waits until the operation is complete, or until the deadline. A host function or a GPU kernel
 * before it may itself wait for what the program does after this call, so the wait is also given up
 * when one of these is found to wait: every 10 ms they are looked at. */
enum sc_awaited sc_at_once_await(const struct sc_call *call, const struct sc_op_info *op,
                                 uint64_t deadline_ns)
{
    uint64_t since_ns = sc_now_ns(), now_ns = since_ns;
    uint64_t since_ticks = sc_ticks();
    struct sc_excuses_stand stand = {0};
    do {
        uint64_t slice_ns = now_ns + LOOK_EVERY_NS;
        if (sc_marks_await(&op->ticket, slice_ns < deadline_ns ? slice_ns : deadline_ns))
            return SC_AWAITED;
        now_ns = sc_now_ns();
        if (!sc_host_functions_are_open(op)) {
            if (note_if_waiting(op, &stand))
                return SC_AWAITS_PROGRAM;
            continue;
        }
        sc_host_functions_poll(since_ns);
        if (sc_host_functions_excuses(op, since_ticks))
            return SC_AWAITS_PROGRAM;
    } while (now_ns < deadline_ns);
    sc_edges_warn_timeout(call->api, op->api);
    return SC_OVERDUE;
}

/* Does the call not wait for this operation, with which it conflicts? That is so if the options do
 * not heal such conflicts (kernels=report), or for a kernel that itself waits for the program. */
static bool is_not_waited_for(const struct sc_op_info *op)
{
    return !sc_hazards_heals(op) || sc_excuses_kernel_is_waiting(&op->ticket);
}

/* Makes the host wait for all operations that conflict with the touch, at most stall_limit in all.
 * A search finds at most SC_TRACK_OPS_MAX of them, so it is repeated as long as some have
 * completed: operations that wait for the program are found again each time. Pages of what has
 * completed are unprotected in the end. */
static void wait_for_all(const struct sc_at_once *touch, const struct sc_op_info *touched)
{
    uint64_t deadline_ns = sc_now_ns() + sc_options.stall_limit_ns;
    unsigned complete;
    SC_OPS(conflicts);
    do {
        complete = 0;
        sc_track_conflicts(&sc_track, touched, /*awaited=*/true, &conflicts);
        for (unsigned i = 0; i < sc_ops_count_kept(&conflicts); i++) {
            if (is_not_waited_for(&conflicts.ops[i]))
                continue;
            enum sc_awaited came = sc_at_once_await(touch->call, &conflicts.ops[i], deadline_ns);
            if (came == SC_OVERDUE)
                return;
            complete += came == SC_AWAITED;
        }
    } while (conflicts.count > SC_TRACK_OPS_MAX && complete > 0);
    sc_guard_apply(SC_GUARD_ALL);
}

/* Reports the operations that conflict with the touch, and in mode=fix then waits for them. In this
 * order, and with their certainty decided before the wait (sc_reaper_decide_now): after it they
 * would look as if they had been complete. A replay reports alone, as the driver has made the call.
 */
static void judge_touch(const struct sc_at_once *touch, const struct sc_op_info *touched)
{
    bool heals = sc_options.mode == SC_MODE_FIX && !sc_replaying_is_on();
    SC_OPS(conflicts);
    sc_track_conflicts(&sc_track, touched, /*awaited=*/false, &conflicts);
    if (conflicts.count == 0)
        return;
    report_each(touch, &conflicts, heals);
    sc_reaper_decide_now();
    if (!heals)
        return;
    sc_nvtx_stall_begin(touch->call->api);
    wait_for_all(touch, touched);
    sc_nvtx_stall_end();
}

/* Counts the touch as not judged if an operation conflicts with it. Called in place of judge_touch
 * if the stream comes after a wait for the host whose end cannot be seen: the program may then have
 * ordered the two. */
static void count_unjudged(const struct sc_at_once *touch, const struct sc_op_info *touched)
{
    SC_OPS(conflicts);
    (void)touch;
    sc_track_conflicts(&sc_track, touched, /*awaited=*/false, &conflicts);
    count_unjudged_touches(SC_NO_VERDICT_UNSEEN, conflicts.count > 0);
}

/* Judges a touch (what the call itself reads or writes before it returns) against the operations in
 * flight. If the order of the stream cannot be known, conflicts are only counted. A replay before
 * the driver's call judges nothing: the wrapper is run again behind it. */
void sc_at_once_judge(const struct sc_at_once *touch, uint32_t range)
{
    SC_KEEP_ERRNO();
    const struct sc_op_info touched = {
        .shape = touch->shape,
        .fold = touch->fold,
        .ticket = {.stream = touch->stream->id},
        .after = touch->after,
        .direction = touch->touch == SC_TOUCH_READ ? SC_H2D : SC_D2H,
        .range = range,
    };
    bool is_seen =
        sc_track_find_unseen_before(&sc_track, touch->stream->id, touch->after).waits == 0;
    /* A default stream that captures makes the driver refuse the call: there is nothing to judge.
     */
    if (!sc_replaying_prepares() && !sc_streams_is_captured(touch->stream))
        (is_seen ? judge_touch : count_unjudged)(touch, &touched);
}
