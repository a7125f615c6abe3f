/* Launches of graphs: one operation on the stream for each run of host memory that the exec names.
 * An exec that names memory freed since (SC401) or a frame that has returned (SC402) is reported
 * before it runs. */
#include <errno.h>
#include <string.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "interpose/base/upcalls.h"
#include "interpose/calls/device_uses.h"
#include "interpose/calls/issue.h"
#include "interpose/calls/kernel_uses.h"
#include "interpose/calls/launch_uses.h"
#include "interpose/calls/sync.h"
#include "interpose/calls/work.h"
#include "interpose/capture/beside.h"
#include "interpose/capture/captures.h"
#include "interpose/capture/detours.h"
#include "interpose/capture/permits.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/made_here.h"
#include "interpose/driver/replaying.h"
#include "interpose/driver/wrap.h"
#include "interpose/graph/stack_sources.h"
#include "interpose/reaper/hazards.h"
#include "interpose/streams/host_functions.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "report/options.h"
#include "track/device.h"
#include "track/graphs.h"
#include "track/hazard.h"
#include "track/heard.h"
#include "track/hold.h"
#include "track/hold_kind.h"
#include "track/ops.h"
#include "track/order.h"
#include "track/ordering.h"
#include "track/pages.h"
#include "track/points.h"
#include "track/shape.h"
#include "track/ticks.h"
#include "track/told.h"
#include "track/track.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/track_views.h"
#include "track/unseen.h"

#include "track/poison.h"

struct launch {
    const struct sc_call *call;
    struct sc_stream_record *stream; /* NULL: nothing is to be done */
    uint32_t exec;                   /* the tracker's id, 0: not known yet */
    const struct sc_graph *graph;    /* NULL: it names no host memory */
    bool again;                      /* on the stream of its last launch */
    bool records, awaits_events;     /* its nodes, some */
    bool signals, awaits;            /* they tell the host, or wait for it, unseen */
    bool is_known;                   /* what its nodes wait for, and tell */
    bool judges_device;              /* and what the launch comes after */
    bool hears;                      /* its host nodes are seen to run */
    bool seen;                       /* they do not wait for the host, nor for what does */
    bool uses_device;                /* copies and memsets of it do, and that is watched */
    uint32_t device_steps;           /* that these are of, as bits */
    bool allocates;                  /* its nodes do, or free memory */
    bool races;                      /* two of its nodes, which no edge orders */
    bool has_kernels;                /* there may be some */
    bool is_empty;                   /* a launch without work: nothing comes after it */
    const struct sc_point *last;     /* of the exec elsewhere, which this one comes after; NULL */
    struct sc_order_call ordered;
    struct sc_ticket waits_from;   /* its wait for the host, which is not seen (track/unseen.h) */
    uint64_t place;                /* of the call, in the legacy stream */
    uint64_t ticks;                /* just before it */
    struct sc_point before;        /* what the events that it records stand for */
    struct sc_told *told;          /* the numbers of its operations; NULL: nobody asks for them */
    struct sc_heard_launch *heard; /* NULL: nothing is heard of it */
    unsigned open;                 /* its host nodes, which may wait for the program */
    struct sc_kernel_host *host;   /* what its kernels have addresses of, where that is asked for */
};

/* ---- hazards of the graph itself ---- */

static void report_use(const struct launch *launch, enum sc_hazard_code code, enum sc_action action,
                       const struct sc_graph_use *use, const struct sc_graph_extra *extra)
{
    sc_hazards_report_graph(code, action, use, extra,
                            &(struct sc_culprit){launch->call->api, launch->call->site, NULL});
}

/* Held memory still has what the program left in it; what was not held is reported. */
static void report_freed(const struct launch *launch)
{
    struct sc_graph_use use;
    struct sc_graph_extra extra;
    for (uint32_t i = 0; SC_TRACKED(sc_graphs_use(track.graphs, launch->exec, i, &use, &extra));
         i++) {
        if (!use.freed || use.disabled)
            continue;
        bool held =
            sc_track_is_held(&sc_track, use.shape.address, 1, SC_HOLDS_ALL | SC_HOLDS_BY_GRAPH);
        report_use(launch, SC401, held ? SC_ACTION_HELD : SC_ACTION_REPORTED, &use, &extra);
    }
}

static void look_at_stacks(const struct launch *launch)
{
    struct sc_graph_use use;
    struct sc_graph_extra extra;
    struct sc_running running = sc_stack_sources_look();
    for (uint32_t i = 0; SC_TRACKED(sc_graphs_use(track.graphs, launch->exec, i, &use, &extra));
         i++) {
        if (use.kind != SC_STACK || use.disabled ||
            sc_stack_sources_refresh(&use, &extra, &running))
            continue;
        report_use(launch, SC402, use.redirected ? SC_ACTION_SNAPSHOTTED : SC_ACTION_REPORTED, &use,
                   &extra);
    }
}

/* Results for living frames; what was written for others is nobody's. */
static void bring_results(const struct launch *launch)
{
    struct sc_graph_use use;
    struct sc_graph_extra extra;
    struct sc_running running = sc_stack_sources_look();
    for (uint32_t i = 0; SC_TRACKED(sc_graphs_use(track.graphs, launch->exec, i, &use, &extra));
         i++)
        if (use.kind == SC_STACK && use.direction == SC_D2H && use.redirected && !use.disabled &&
            sc_stack_sources_frame_lives(&use, &extra, &running))
            memcpy((void *)use.shape.address, extra.saved, use.shape.width_bytes);
}

/* ---- its memory: an operation for each run ---- */

/* Memory that was freed and is not held may have a new owner, who is free to free it. */
static bool is_somebody_elses(const struct sc_graph_use *run)
{
    return run->freed && (sc_options.mode != SC_MODE_FIX || sc_replaying_is_on());
}

static void begin_live_run(struct sc_issue *issue, const struct sc_graph_use *run)
{
    const struct sc_graph_extra *extra = sc_track_graph_extra(&sc_track, run);
    if (run->in_call && !issue->stream->context->reads_pageable)
        sc_issue_touch(issue, SC_TOUCH_READ, &run->shape);
    else
        sc_issue_host_shape(issue, run->direction, &run->shape);
    sc_issue_folded(issue, 0, &extra->fold);
}

static void begin_run(struct sc_issue *issue, const struct launch *launch,
                      const struct sc_graph_use *run)
{
    size_t hull_bytes = sc_shape_hull_bytes(&run->shape);
    const struct sc_shape hull = {run->shape.address, hull_bytes, hull_bytes, 1};
    sc_issue_on(issue, launch->call, launch->stream);
    if (run->freed)
        sc_issue_pageable(issue, run->direction, &hull, false);
    else
        begin_live_run(issue, run);
    issue->joins_stream = false;
    issue->waits_after = false;
    issue->is_judged = launch->awaits_events; /* what stands behind the wait is unjudged */
    uint8_t unjudged = is_somebody_elses(run) ? SC_UNSURE_UNJUDGED : 0;
    sc_issue_of_graph(issue, run->unsure | unjudged, launch->ticks);
    issue->place = launch->place;
}

/* What the launch has to be ordered after; most have nothing that could conflict with them. */
static void order_runs(const struct launch *launch)
{
    const struct sc_exec *exec = &launch->graph->exec;
    for (uint32_t i = 0; i < exec->host_runs; i++) {
        const struct sc_graph_use *run = &exec->runs.list[i];
        struct sc_issue issue;
        if (!run->freed && !sc_direction_writes_host(run->direction) &&
            !sc_track_may_conflict(&sc_track, run->range, run->direction, launch->stream->id))
            continue;
        begin_run(&issue, launch, run);
        issue.after = launch->last;
        if (issue.op_count)
            sc_issue_ready(&issue);
        else
            sc_issue_judge_touches(&issue);
    }
}

static size_t record_run(const struct launch *launch, const struct sc_graph_use *run,
                         uint32_t stack, uint64_t now_ticks)
{
    struct sc_issue issue;
    struct sc_issue_ops ops;
    begin_run(&issue, launch, run);
    sc_issue_describe(&issue, &ops);
    size_t bytes = ops.count ? sc_issue_record(&issue, &ops, stack, now_ticks) : 0;
    for (unsigned i = 0; launch->told && i < ops.count; i++)
        sc_told_note(launch->told, run->told, ops.of[i].ticket.number);
    if (ops.count && run->freed)
        SC_TRACKED(sc_holds_wait_longer(track.holds, run->shape.address,
                                        sc_shape_hull_bytes(&run->shape), &ops.of[0].ticket));
    return bytes;
}

/* Of the step, from the index on, which moves behind them. Returns how many bytes they have. */
static size_t record_runs_of(const struct launch *launch, unsigned step, uint32_t *at,
                             const struct sc_op_info *moment)
{
    const struct sc_exec *exec = &launch->graph->exec;
    size_t size_bytes = 0;
    for (; *at < exec->host_runs && exec->runs.list[*at].told == step; ++*at)
        size_bytes += record_run(launch, &exec->runs.list[*at], moment->stack, launch->ticks);
    return size_bytes;
}

static void record_runs(const struct launch *launch)
{
    const struct sc_exec *exec = &launch->graph->exec;
    struct sc_relaunch again = {
        .exec = launch->exec,
        .stream = launch->stream->id,
        .api = launch->call->api,
        .stack = sc_unwind_here(launch->call->site),
        .thread = sc_thread_id(),
        .ticks = launch->ticks,
        .unseen_waits = sc_track_unseen_behind(&sc_track, launch->stream->id, NULL),
        .told = launch->told,
        .place = launch->place,
    };
    again.guards = sc_options.guard && again.unseen_waits.waits == 0;
    if (launch->again)
        sc_track_launch_again(&sc_track, &again);
    bool whole = launch->again && again.done == exec->host_runs;
    for (uint32_t i = again.done; i < exec->host_runs; i++)
        again.size_bytes += record_run(launch, &exec->runs.list[i], again.stack, again.ticks);
    sc_guard_apply_own();
    sc_marks_issued(launch->stream, again.size_bytes, false, again.ticks);
    if (!whole)
        SC_TRACKED(sc_graphs_launched(track.graphs, launch->graph->handle, launch->stream->id));
}

/* ---- before the call ---- */

/* Is no wait for the host, unseen, before the launch: on its stream, before the exec's last launch,
 * or before an event for which a node waits? */
static bool is_behind_seen(const struct launch *launch)
{
    struct sc_order_call ordered;
    if (!sc_track_has(&sc_track, SC_HAS_UNSEEN_WAITS))
        return true;
    sc_track_begin_launch(&sc_track, launch->exec, launch->stream->id, &ordered);
    struct sc_point after = sc_track_call_point(&sc_track, launch->stream->id, &ordered);
    bool is_seen = sc_track_unseen_behind(&sc_track, launch->stream->id, &after).waits == 0;
    sc_track_end(&sc_track, &ordered, false);
    sc_track_forget_point(&sc_track, &after);
    return is_seen;
}

static bool has_events(const struct launch *launch)
{
    return launch->records || launch->awaits_events;
}

static void find_exec(struct launch *launch, CUgraphExec exec)
{
    const struct sc_graph *graph = sc_track_graph(&sc_track, (uintptr_t)exec, &launch->exec);
    launch->has_kernels = true;
    if (!graph)
        return;
    if (graph->exec.is_stale)
        SC_TRACKED(sc_graphs_make_runs(track.graphs, (uintptr_t)exec));
    uint32_t last = graph->exec.last_launch.stream;
    launch->again = last == launch->stream->id;
    launch->is_empty = graph->exec.is_empty;
    launch->has_kernels = graph->exec.has_kernels;
    launch->uses_device = graph->exec.device_runs != 0;
    launch->device_steps = graph->exec.device_steps;
    launch->allocates = graph->exec.device.own_count != 0;
    launch->races = graph->exec.device.race_count != 0;
    if (last && !launch->again && !graph->exec.is_empty)
        launch->last = &graph->exec.last_launch;
    if (sc_graph_names_host(graph))
        launch->graph = graph;
    launch->records = graph->exec.events.records;
    launch->awaits_events = graph->exec.events.waits;
    launch->hears = graph->exec.heard && graph->exec.heard->count;
    bool is_lost = launch->hears && graph->exec.heard->is_lost;
    launch->signals = graph->exec.signals || is_lost;
    bool behind_seen = is_behind_seen(launch);
    launch->awaits = graph->exec.awaits_host || is_lost;
    launch->seen = !launch->awaits && behind_seen;
    launch->is_known = behind_seen && !is_lost;
    launch->judges_device =
        launch->is_known && !(launch->awaits && (has_events(launch) || launch->hears));
}

/* A launch with host memory is an operation itself: no mark is wanted before it, unless the host
 * may hear of its beginning. */
static void note_work(struct launch *launch)
{
    if (!launch->graph || launch->records || launch->signals || launch->hears)
        sc_marks_before_work(launch->stream, launch->signals ? SC_BEFORE_SIGNAL : SC_BEFORE_WORK);
    launch->ticks = sc_unfinished_host_work(launch->stream);
}

/* Before its own memory is looked at, of which a node says what is done only to the nodes behind:
 * those are not judged. The host may hear as well of what the nodes wait for. */
static void note_signals(const struct launch *launch)
{
    struct sc_order_call ordered;
    if (!launch->signals)
        return;
    sc_track_begin_launch(&sc_track, launch->exec, launch->stream->id, &ordered);
    SC_TRACKED(sc_order_call_signals(track.order, launch->stream->id, &ordered));
    sc_track_end(&sc_track, &ordered, false);
}

static void begin_heard(struct launch *launch)
{
    unsigned given_up;
    launch->heard = SC_TRACKED(
        sc_graphs_begin_heard(track.graphs, launch->exec, &launch->before,
                              &(struct sc_heard_call){launch->ticks, launch->open}, &given_up));
    sc_host_functions_dropped(given_up);
    if (launch->heard)
        return;
    sc_host_functions_dropped(launch->open);
    launch->seen = launch->judges_device = false;
    if (!launch->awaits)
        launch->waits_from = SC_TRACKED(sc_unseen_begin(track.order, launch->stream->id));
    launch->awaits = true;
}

/* The call follows. An event that it records may stand for those that it waits for. */
static void begin_call(struct launch *launch)
{
    launch->ordered.stream = 0;
    if (launch->exec && !launch->is_empty)
        sc_track_begin_launch(&sc_track, launch->exec, launch->stream->id, &launch->ordered);
    else if (!launch->is_empty)
        sc_track_begin(&sc_track, launch->stream->id, &launch->ordered);
    launch->place = sc_order_place(&launch->ordered);
    if (launch->awaits)
        launch->waits_from = SC_TRACKED(sc_unseen_begin(track.order, launch->stream->id));
    if (launch->records || launch->hears)
        launch->before = sc_track_call_point(&sc_track, launch->stream->id, &launch->ordered);
    if (launch->hears)
        begin_heard(launch);
}

/* ---- what its kernels may use, and its device memory ---- */

/* Nodes tell of some uses before the launch is done: these are noted step by step. */
static bool tells(const struct launch *launch)
{
    return launch->records || launch->hears;
}

/* Kernels are not, and count for the launch as a whole. Where a node tells of what is before it, in
 * a way that is not seen, or waits for the host, a kernel may be in any order with other work. */
static bool judges_kernels(const struct launch *launch)
{
    return sc_kernel_uses_are_asked() && launch->exec && launch->seen && !launch->signals &&
           !has_events(launch) && !launch->hears;
}

/* A launch that writes pageable memory or copies between host memory, unless the device does so
 * itself. */
static bool blocks_host(const struct launch *launch)
{
    return launch->graph && launch->graph->waiting_count &&
           !launch->stream->context->reads_pageable;
}

static struct sc_launch_uses uses_of(const struct launch *launch)
{
    return (struct sc_launch_uses){
        .call = launch->call,
        .stream = launch->stream,
        .exec = launch->exec,
        .last = launch->last,
        .place = launch->place,
        .healing = blocks_host(launch) ? SC_HEALED_BY_WAIT : SC_HEALED_BY_EDGE,
        .awaits_events = launch->awaits_events,
    };
}

static void judge_copies(const struct launch *launch, int which)
{
    if (sc_likely(!launch->uses_device) || !launch->judges_device)
        return;
    const struct sc_launch_uses uses = uses_of(launch);
    sc_launch_uses_judge(&uses, which);
}

/* Of the nodes among themselves. What waits for an event may wait for what another one tells of. */
static void report_races(const struct launch *launch)
{
    const struct sc_launch_uses uses = uses_of(launch);
    bool is_told = launch->signals || tells(launch);
    if (launch->is_known && !(launch->awaits_events && is_told))
        sc_launch_uses_report_races(&uses);
}

static void judge_uses(const struct launch *launch)
{
    if (sc_unlikely(launch->races))
        report_races(launch);
    judge_copies(launch, launch->hears ? SC_RUNS_FREE : SC_RUNS_ALL);
    if (judges_kernels(launch))
        sc_kernel_uses_judge_graph(launch->call, launch->stream, launch->exec, launch->last,
                                   launch->host);
    else if (sc_kernel_uses_are_asked() && launch->exec)
        sc_kernel_uses_seal_graph(launch->call, launch->stream, launch->exec, launch->last,
                                  launch->seen && !launch->awaits_events);
}

/* Its host nodes may wait for the program from now on, which may put what is behind them in order
 * with other work. */
static void open_host_nodes(struct launch *launch)
{
    launch->open = sc_host_functions_launched(launch->ticks, launch->stream->id, 0);
    judge_copies(launch, SC_RUNS_GATED);
}

/* A stack is taken. */
static __attribute__((noinline)) void note_allocations(const struct launch *launch)
{
    sc_track_graph_allocates(&sc_track, launch->exec, launch->stream->context->legacy,
                             sc_made_here(launch->call));
}

static void note_uses(const struct launch *launch)
{
    struct sc_op_info moment = {0};
    if (judges_kernels(launch))
        sc_kernel_uses_note_graph(launch->call, launch->stream, launch->exec, launch->host,
                                  launch->place, &moment);
    if (sc_likely(!launch->uses_device) || !launch->judges_device || tells(launch))
        return;
    const struct sc_launch_uses uses = uses_of(launch);
    sc_launch_uses_note(&uses, SC_RUNS_IN_FLIGHT, &moment);
}

/* ---- around the call ----
 *
 * What these need of the stack does not stand there while the driver is called. */

/* In a capturing stream the driver refuses a launch. */
static __attribute__((noinline)) void launch_begins(struct launch *launch, CUgraphExec exec,
                                                    CUstream stream)
{
    launch->stream = sc_active() ? sc_streams_find(stream, launch->call->per_thread) : NULL;
    if (launch->stream && sc_streams_is_capturing(launch->stream))
        launch->stream = NULL;
    if (!launch->stream)
        return;
    find_exec(launch, exec);
    int saved = errno;
    if (sc_unlikely(sc_replaying_prepares())) {
        if (launch->graph)
            order_runs(launch);
        launch->stream = NULL;
        errno = saved;
        return;
    }
    note_work(launch);
    note_signals(launch);
    if (launch->graph && launch->graph->freed_count)
        report_freed(launch);
    if (launch->graph && launch->graph->stack_count)
        look_at_stacks(launch);
    if (launch->graph)
        order_runs(launch);
    if (launch->has_kernels)
        sc_work_may_write(launch->call, launch->stream, launch->last,
                          launch->seen && !launch->awaits_events);
    judge_uses(launch);
    if (launch->hears)
        open_host_nodes(launch);
    begin_call(launch);
    errno = saved;
}

/* The launch has waited for its stream. */
static void know_all(const struct launch *launch, CUstream stream)
{
    struct sc_sync sync;
    sc_sync_begin_stream(&sync, launch->call, stream);
    sc_sync_end(&sync, CUDA_SUCCESS);
}

/* An event that a capture recorded before means the launch from now on. */
static void end_records(struct launch *launch, const struct sc_told *told)
{
    uintptr_t event;
    uint32_t at = 0;
    while ((event = SC_TRACKED(sc_graphs_next_event(track.graphs, launch->exec, false, &at))) != 0)
        sc_captures_note_event((CUevent)event, NULL);
    sc_track_launch_records(&sc_track, launch->exec, &launch->before, told);
    if (told->broken)
        sc_guard_apply();
}

/* Some host nodes may have run by now. */
static void note_heard(struct launch *launch, const struct sc_told *told)
{
    struct sc_point point = SC_TRACKED(sc_heard_launched(track.order, launch->heard, told));
    launch->heard = NULL;
    if (!point.stream)
        return;
    sc_hazards_know(&point, &(struct sc_culprit){launch->call->api, launch->call->site, NULL});
    sc_guard_apply();
}

/* The uses of device memory of a step get a number behind those of host memory. */
static void record_step(const struct launch *launch, unsigned step, uint32_t *run,
                        size_t *size_bytes, struct sc_op_info *moment)
{
    const struct sc_launch_uses uses = uses_of(launch);
    if (launch->graph)
        *size_bytes += record_runs_of(launch, step, run, moment);
    moment->ticket = (struct sc_ticket){.stream = launch->stream->id, .epoch = launch->place};
    bool has_uses = step == 0 || launch->device_steps >> step & 1;
    if (has_uses && sc_launch_uses_note(&uses, (int)step, moment))
        sc_told_note(launch->told, step, moment->ticket.number);
}

/* What no node tells of comes last. Of the device memory nothing counts until it is noted which
 * host nodes have run by now. Returns the time of these uses. */
static uint64_t record_steps(const struct launch *launch)
{
    struct sc_op_info moment = sc_device_uses_moment(launch->call, launch->stream, launch->place);
    size_t size_bytes = 0;
    uint32_t run = 0;
    moment.unsure = launch->hears ? SC_UNSURE_WAITS : 0;
    for (unsigned step = 1; step <= SC_TOLD_MAX; step++)
        record_step(launch, step, &run, &size_bytes, &moment);
    record_step(launch, 0, &run, &size_bytes, &moment);
    if (!launch->graph)
        return moment.ticks;
    sc_guard_apply_own();
    sc_marks_issued(launch->stream, size_bytes, false, launch->ticks);
    SC_TRACKED(sc_graphs_launched(track.graphs, launch->graph->handle, launch->stream->id));
    return moment.ticks;
}

/* Nodes tell of some of the operations before the launch is done. */
static __attribute__((noinline)) void record_what_is_told(struct launch *launch)
{
    bool is_lost = launch->hears && !launch->heard;
    bool notes_device = launch->uses_device && launch->judges_device;
    struct sc_told told = {.last = launch->before.number, .broken = is_lost};
    uint64_t noted_ticks = 0, behind = launch->before.number;
    launch->told = &told;
    if (sc_unlikely(notes_device))
        noted_ticks = record_steps(launch);
    else if (launch->graph)
        record_runs(launch);
    if (told.broken && notes_device)
        SC_TRACKED(sc_device_unsee(track.inflight, launch->stream->id, behind));
    sc_told_done(&told);
    launch->told = NULL;
    if (launch->heard)
        note_heard(launch, &told);
    if (launch->hears && notes_device && !told.broken)
        SC_TRACKED(sc_device_see(track.inflight, launch->stream->id, behind, noted_ticks));
    end_records(launch, &told);
}

static void forget_what_is_told(struct launch *launch)
{
    if (launch->records || launch->hears)
        sc_track_forget_point(&sc_track, &launch->before);
    if (!launch->heard)
        return;
    SC_TRACKED(sc_heard_fail(track.order, launch->heard));
    sc_host_functions_dropped(launch->open);
}

static __attribute__((noinline)) CUresult launch_ended(struct launch *launch, CUgraphExec exec,
                                                       CUstream stream, CUresult result)
{
    int saved = errno;
    sc_track_end(&sc_track, &launch->ordered, result == CUDA_SUCCESS);
    if (result != CUDA_SUCCESS)
        forget_what_is_told(launch);
    if (!launch->stream || result != CUDA_SUCCESS)
        return result;
    sc_unfinished_host_work(launch->stream);
    sc_marks_note_tail(launch->stream);
    if (launch->allocates)
        note_allocations(launch);
    note_uses(launch);
    if (launch->records || launch->hears)
        record_what_is_told(launch);
    else if (launch->graph)
        record_runs(launch);
    if (!launch->graph)
        SC_TRACKED(sc_graphs_launched(track.graphs, (uintptr_t)exec, launch->stream->id));
    sc_work_note(launch->call, launch->stream,
                 sc_track_issued(&sc_track, launch->stream->id) + !launch->graph, sc_ticks());
    if (launch->awaits)
        SC_TRACKED(sc_unseen_end(track.order, &launch->waits_from));
    if (launch->graph && launch->graph->stack_count)
        bring_results(launch);
    if (blocks_host(launch))
        know_all(launch, stream);
    errno = saved;
    return result;
}

SC_PAIR(cuGraphLaunch, _ptsz, (CUgraphExec exec, CUstream stream), (exec, stream))
{
    struct sc_detour detour;
    struct sc_kernel_host host;
    struct launch launch = {.call = call, .host = &host};
    sc_detour_begin(&detour, call, &stream);
    launch_begins(&launch, exec, stream);
    CUresult result = real(exec, stream);
    if (sc_detour_leaves_to_caller(&detour))
        sc_permit_refused(call, result);
    if (sc_beside_is_asked() && result == CUDA_SUCCESS)
        sc_beside_graph_launched((uintptr_t)exec);
    return sc_detour_end(&detour, launch_ended(&launch, exec, stream, result));
}
