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

enum { LOOK_NS = 10 * 1000 * 1000 };

/* What the device has taken from a snapshot is not harmed any more. */
static enum sc_action action_on(const struct sc_op_info *op, bool heals)
{
    if (!heals || !sc_hazards_heals(op))
        return SC_ACTION_REPORTED;
    return sc_ops_is_copied(op) ? SC_ACTION_SNAPSHOTTED : SC_ACTION_STALLED;
}

static void give_no_verdict(enum sc_no_verdict_reason reason, unsigned count)
{
    sc_no_verdicts_add(sc_track_parts.no_verdicts, SC_NO_VERDICT_TOUCHES, reason, count);
}

static void report_each(const struct sc_at_once *touch, const struct sc_ops *ops, bool heals)
{
    for (unsigned i = 0; i < sc_ops_kept(ops); i++)
        if (sc_excuses_kernel_is_waiting(&ops->ops[i].ticket))
            give_no_verdict(SC_NO_VERDICT_WAITING_KERNEL, 1);
        else
            sc_hazards_report_order(sc_hazards_touch_code(&ops->ops[i], touch->touch),
                                    action_on(&ops->ops[i], heals), ops, i,
                                    &(struct sc_later){.ticket = {.stream = touch->stream->id}},
                                    SC_CULPRIT_OF(touch->call));
    give_no_verdict(SC_NO_VERDICT_ROOM, ops->count - sc_ops_kept(ops));
}

/* A kernel, or a launch that may use the memory, may wait for what the call is to write there. */
static bool is_found_to_wait(const struct sc_op_info *op, struct sc_excuses_stand *stand)
{
    if (!sc_ops_is_possible(op) || op->kind == SC_DEVICE ||
        !sc_excuses_kernel_is_stuck(stand, op->ticket.stream))
        return false;
    sc_excuses_kernel_waits(&op->ticket);
    return true;
}

/* A host function that waits for the program may wait for what comes after the call. */
enum sc_awaited sc_at_once_await(const struct sc_call *call, const struct sc_op_info *op,
                                 uint64_t deadline_ns)
{
    uint64_t since_ns = sc_now_ns(), now_ns = since_ns;
    uint64_t since_ticks = sc_ticks();
    struct sc_excuses_stand stand = {0};
    do {
        uint64_t slice_ns = now_ns + LOOK_NS;
        if (sc_marks_await(&op->ticket, slice_ns < deadline_ns ? slice_ns : deadline_ns))
            return SC_AWAITED;
        now_ns = sc_now_ns();
        if (!sc_host_functions_are_open(op)) {
            if (is_found_to_wait(op, &stand))
                return SC_AWAITS_PROGRAM;
            continue;
        }
        sc_host_functions_look(since_ns);
        if (sc_host_functions_excuse(op, since_ticks))
            return SC_AWAITS_PROGRAM;
    } while (now_ns < deadline_ns);
    sc_edges_say_goes_on(call->api, op->api);
    return SC_OVERDUE;
}

/* Is it a kernel that is not waited for: nobody asks for that, or it waits for the program? */
static bool is_passed(const struct sc_op_info *op)
{
    return !sc_hazards_heals(op) || sc_excuses_kernel_is_waiting(&op->ticket);
}

/* SC_TRACK_OPS_MAX are found at a time. Those that wait for the program are found again. */
static void wait_for_all(const struct sc_at_once *touch, const struct sc_op_info *bytes)
{
    uint64_t deadline_ns = sc_now_ns() + sc_options.stall_limit_ns;
    unsigned complete;
    SC_OPS(ops);
    do {
        complete = 0;
        sc_track_conflicts(&sc_track, bytes, true, &ops);
        for (unsigned i = 0; i < sc_ops_kept(&ops); i++) {
            if (is_passed(&ops.ops[i]))
                continue;
            enum sc_awaited came = sc_at_once_await(touch->call, &ops.ops[i], deadline_ns);
            if (came == SC_OVERDUE)
                return;
            complete += came == SC_AWAITED;
        }
    } while (ops.count > SC_TRACK_OPS_MAX && complete > 0);
    sc_guard_apply(SC_GUARD_ALL);
}

/* The verdicts come first: what the call waits for may look complete after it. */
static void judge(const struct sc_at_once *touch, const struct sc_op_info *bytes)
{
    bool heals = sc_options.mode == SC_MODE_FIX && !sc_replaying_is_on();
    SC_OPS(ops);
    sc_track_conflicts(&sc_track, bytes, false, &ops);
    if (ops.count == 0)
        return;
    report_each(touch, &ops, heals);
    sc_reaper_judge_now();
    if (!heals)
        return;
    sc_nvtx_stall_begin(touch->call->api);
    wait_for_all(touch, bytes);
    sc_nvtx_stall_end();
}

static void leave_unjudged(const struct sc_at_once *touch, const struct sc_op_info *bytes)
{
    SC_OPS(ops);
    (void)touch;
    sc_track_conflicts(&sc_track, bytes, false, &ops);
    give_no_verdict(SC_NO_VERDICT_UNSEEN, ops.count > 0);
}

void sc_at_once_judge(const struct sc_at_once *touch, uint32_t range)
{
    SC_KEEP_ERRNO();
    const struct sc_op_info bytes = {
        .shape = touch->shape,
        .fold = touch->fold,
        .ticket = {.stream = touch->stream->id},
        .after = touch->after,
        .direction = touch->touch == SC_TOUCH_READ ? SC_H2D : SC_D2H,
        .range = range,
    };
    bool is_seen = sc_track_unseen_behind(&sc_track, touch->stream->id, touch->after).waits == 0;
    /* A default stream that captures refuses the call. */
    if (!sc_replaying_prepares() && !sc_streams_is_captured(touch->stream))
        (is_seen ? judge : leave_unjudged)(touch, &bytes);
}
