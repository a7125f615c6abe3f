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

/* Returns what is done about a conflict. A source that the device reads from a snapshot cannot be
 * damaged, so it is not waited for. */
static enum sc_action action_on(const struct sc_op_info *op, bool heals)
{
    if (!heals || !sc_hazards_heals(op))
        return SC_ACTION_REPORTED;
    return sc_ops_is_copied(op) ? SC_ACTION_SNAPSHOTTED : SC_ACTION_STALLED;
}

static void count_unjudged_touches(enum sc_no_verdict_reason reason, unsigned count)
{
    sc_no_verdicts_add(sc_track_parts.no_verdicts, SC_NO_VERDICT_TOUCHES, reason, count);
}

/* Reports each conflict, except with a kernel that waits for the program. Those, and conflicts
 * beyond the ones that are kept, count as not judged. */
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

/* Does the operation, a kernel or a launch, seem to wait for what the call is about to write? If
 * so, notes that it is waiting. */
static bool note_if_waiting(const struct sc_op_info *op, struct sc_excuses_stand *stand)
{
    if (!sc_ops_is_possible(op) || op->kind == SC_DEVICE ||
        !sc_excuses_kernel_is_stuck(stand, op->ticket.stream))
        return false;
    sc_excuses_kernel_waits(&op->ticket);
    return true;
}

/* Waits for the operation until the deadline. A host function or a GPU kernel before the operation
 * may itself wait for what the program does after this call, so the wait ends when one is found to
 * be waiting. */
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

/* Is this operation passed over: one that only may use the memory, which the options do not heal,
 * or a kernel that waits for the program? */
static bool is_not_waited_for(const struct sc_op_info *op)
{
    return !sc_hazards_heals(op) || sc_excuses_kernel_is_waiting(&op->ticket);
}

/* Waits for all conflicts. A search finds at most SC_TRACK_OPS_MAX, so it is repeated as long as
 * some were completed. Operations that wait for the program are found again each time. */
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

/* Reports the conflicts, and then waits for them (mode=fix). In this order, since after the wait
 * the operations look complete. */
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

/* Counts the access as not judged, if there is a conflict. Is called in place of `judge_touch` if
 * the order of the call cannot be known. */
static void count_unjudged(const struct sc_at_once *touch, const struct sc_op_info *touched)
{
    SC_OPS(conflicts);
    (void)touch;
    sc_track_conflicts(&sc_track, touched, /*awaited=*/false, &conflicts);
    count_unjudged_touches(SC_NO_VERDICT_UNSEEN, conflicts.count > 0);
}

/* Judges a touch (what the call itself reads or writes before it returns) against the operations in
 * flight. If the order of the stream cannot be known, conflicts are only counted. */
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
