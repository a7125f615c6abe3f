/* Launches of graphs: one operation on the stream for each run of host memory that the exec names.
 * An exec that names memory freed since (SC401) or a frame that has returned (SC402) is reported
 * before it runs. */
#include <string.h>

#include "common/hazard_words.h"
#include "common/op_kinds.h"
#include "common/points.h"
#include "common/ticks.h"
#include "common/unsure.h"
#include "interpose/base/compiler.h"
#include "interpose/base/locals.h"
#include "interpose/base/process.h"
#include "interpose/calls/device_uses.h"
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
#include "interpose/guard/door.h"
#include "interpose/ledger/limits.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/hazards.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/host_functions.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "track/device.h"
#include "track/graph_records.h"
#include "track/graphs.h"
#include "track/heard.h"
#include "track/hold_kind.h"
#include "track/op_info.h"
#include "track/order_calls.h"
#include "track/stream_front.h"
#include "track/told.h"
#include "track/track.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_parts.h"
#include "track/track_streams.h"
#include "track/unseen.h"

#include "common/poison.h"

struct launch {
    struct sc_launch_uses uses; /* its stream is NULL where nothing is to be done */
    bool records;               /* a node does */
    bool signals, awaits;       /* nodes tell the host, or wait for it, unseen */
    bool is_known;              /* what its nodes wait for, and tell */
    bool hears;                 /* its host nodes are seen to run */
    bool seen;                  /* they do not wait for the host, nor for what does */
    bool allocates;             /* its nodes do, or free memory */
    bool races;                 /* two of its nodes, which no edge orders */
    bool has_kernels;           /* there may be some */
    bool is_empty;              /* a launch without work: nothing comes after it */
    struct sc_order_call ordered;
    struct sc_ticket waits_from;   /* its wait for the host, which is not seen (track/unseen.h) */
    struct sc_point before;        /* what the events that it records stand for */
    struct sc_heard_launch *heard; /* NULL: nothing is heard of it */
    unsigned open;                 /* its host nodes, which may wait for the program */
    struct sc_kernel_host *host;   /* what its kernels have addresses of, where that is asked for */
};

/* ---- hazards of the graph itself ---- */

static void report_use(const struct launch *launch, enum sc_hazard_code code, enum sc_action action,
                       const struct sc_graph_use *use, const struct sc_graph_extra *extra)
{
    sc_hazards_report_graph(code, action, use, extra, SC_CULPRIT_OF(launch->uses.call));
}

/* Held memory still has what the program left in it; what was not held is reported. */
static void report_freed(const struct launch *launch)
{
    struct sc_graph_use use;
    struct sc_graph_extra extra;
    for (uint32_t i = 0;
         SC_TRACKED(sc_graphs_use(track.graphs, launch->uses.exec, i, &use, &extra)); i++) {
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
    for (uint32_t i = 0;
         SC_TRACKED(sc_graphs_use(track.graphs, launch->uses.exec, i, &use, &extra)); i++) {
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
    for (uint32_t i = 0;
         SC_TRACKED(sc_graphs_use(track.graphs, launch->uses.exec, i, &use, &extra)); i++)
        if (use.kind == SC_STACK && use.direction == SC_D2H && use.redirected && !use.disabled &&
            sc_stack_sources_frame_lives(&use, &extra, &running))
            memcpy((void *)use.shape.address, extra.saved, use.shape.width_bytes);
}

/* ---- before the call ---- */

/* Is no wait for the host, unseen, before the launch: on its stream, before the exec's last launch,
 * or before an event for which a node waits? */
static bool is_behind_seen(const struct launch *launch)
{
    struct sc_order_call ordered;
    if (!sc_track_attends(SC_ATTENDS_UNSEEN_WAITS))
        return true;
    sc_track_begin_launch(&sc_track, launch->uses.exec, launch->uses.stream->id, &ordered);
    struct sc_point after = sc_track_call_point(&sc_track, launch->uses.stream->id, &ordered);
    bool is_seen = sc_track_unseen_behind(&sc_track, launch->uses.stream->id, &after).waits == 0;
    sc_track_end(&sc_track, &ordered, false);
    sc_track_forget_point(&sc_track, &after);
    return is_seen;
}

static bool has_events(const struct launch *launch)
{
    return launch->records || launch->uses.awaits_events;
}

/* A launch that writes pageable memory or copies between host memory, unless the device does so
 * itself. */
static bool blocks_host(const struct launch *launch)
{
    return launch->uses.graph && launch->uses.graph->waiting_count &&
           !launch->uses.stream->context->reads_pageable;
}

static void find_exec(struct launch *launch, CUgraphExec exec)
{
    const struct sc_graph *graph = sc_track_graph(&sc_track, (uintptr_t)exec, &launch->uses.exec);
    launch->has_kernels = true;
    if (!graph)
        return;
    launch->uses.known = &graph->exec;
    if (graph->exec.is_stale)
        SC_TRACKED(sc_graphs_make_runs(track.graphs, (uintptr_t)exec));
    uint32_t last = graph->exec.last_launch.stream;
    launch->uses.again = last == launch->uses.stream->id;
    launch->is_empty = graph->exec.is_empty;
    launch->has_kernels = graph->exec.has_kernels;
    launch->allocates = graph->exec.device.own_count != 0;
    launch->races = graph->exec.device.race_count != 0;
    if (last && !launch->uses.again && !graph->exec.is_empty)
        launch->uses.last = &graph->exec.last_launch;
    if (sc_graph_names_host(graph))
        launch->uses.graph = graph;
    launch->records = graph->exec.events.records;
    launch->uses.awaits_events = graph->exec.events.waits;
    launch->hears = graph->exec.heard && graph->exec.heard->count;
    bool is_lost = launch->hears && graph->exec.heard->is_lost;
    launch->signals = graph->exec.signals || is_lost;
    bool behind_seen = is_behind_seen(launch);
    launch->awaits = graph->exec.awaits_host || is_lost;
    launch->seen = !launch->awaits && behind_seen;
    launch->is_known = behind_seen && !is_lost;
    launch->uses.has_device = graph->exec.device_runs && launch->is_known &&
                              !(launch->awaits && (has_events(launch) || launch->hears));
    launch->uses.healing = blocks_host(launch) ? SC_HEALED_BY_WAIT : SC_HEALED_BY_EDGE;
}

/* A launch with host memory is an operation itself: no mark is wanted before it, unless the host
 * may hear of its beginning. */
static void note_work(struct launch *launch)
{
    if (!launch->uses.graph || launch->records || launch->signals || launch->hears)
        sc_marks_before_work(launch->uses.stream,
                             launch->signals ? SC_BEFORE_SIGNAL : SC_BEFORE_WORK);
    launch->uses.ticks = sc_unfinished_host_work(launch->uses.stream);
}

/* Before its own memory is looked at, of which a node says what is done only to the nodes behind:
 * those are not judged. The host may hear as well of what the nodes wait for. */
static void note_signals(const struct launch *launch)
{
    struct sc_order_call ordered;
    if (!launch->signals)
        return;
    sc_track_begin_launch(&sc_track, launch->uses.exec, launch->uses.stream->id, &ordered);
    SC_TRACKED(sc_order_call_signals(track.order, launch->uses.stream->id, &ordered));
    sc_track_end(&sc_track, &ordered, false);
}

static void begin_heard(struct launch *launch)
{
    unsigned given_up;
    launch->heard = SC_TRACKED(sc_graphs_begin_heard(
        track.graphs, launch->uses.exec, &launch->before,
        &(struct sc_heard_call){launch->uses.ticks, launch->open}, &given_up));
    sc_host_functions_dropped(given_up);
    if (launch->heard)
        return;
    sc_host_functions_dropped(launch->open);
    launch->seen = launch->uses.has_device = false;
    if (!launch->awaits)
        launch->waits_from = SC_TRACKED(sc_unseen_begin(track.order, launch->uses.stream->id));
    launch->awaits = true;
}

/* The call follows. An event that it records may stand for those that it waits for. */
static void begin_call(struct launch *launch)
{
    launch->ordered.stream = 0;
    if (launch->uses.exec && !launch->is_empty)
        sc_track_begin_launch(&sc_track, launch->uses.exec, launch->uses.stream->id,
                              &launch->ordered);
    else if (!launch->is_empty)
        sc_track_begin(&sc_track, launch->uses.stream->id, &launch->ordered);
    launch->uses.place = sc_order_place(&launch->ordered);
    if (launch->awaits)
        launch->waits_from = SC_TRACKED(sc_unseen_begin(track.order, launch->uses.stream->id));
    if (launch->records || launch->hears)
        launch->before = sc_track_call_point(&sc_track, launch->uses.stream->id, &launch->ordered);
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
    return sc_kernel_uses_are_asked() && launch->uses.exec && launch->seen && !launch->signals &&
           !has_events(launch) && !launch->hears;
}

/* Reports races between nodes of the launch. What waits for an event may wait for what another one
 * tells of. */
static void report_races(const struct launch *launch)
{
    bool is_told = launch->signals || tells(launch);
    if (launch->is_known && !(launch->uses.awaits_events && is_told))
        sc_launch_uses_report_races(&launch->uses);
}

static void judge_uses(const struct launch *launch)
{
    if (sc_unlikely(launch->races))
        report_races(launch);
    if (judges_kernels(launch))
        sc_kernel_uses_judge_graph(launch->uses.call, launch->uses.stream, launch->uses.exec,
                                   launch->uses.last, launch->host);
    else if (sc_kernel_uses_are_asked() && launch->uses.exec)
        sc_kernel_uses_seal_graph(launch->uses.call, launch->uses.stream, launch->uses.exec,
                                  launch->uses.last, launch->seen && !launch->uses.awaits_events);
}

/* Its host nodes may wait for the program from now on, which may put what is behind them in order
 * with other work. */
static void open_host_nodes(struct launch *launch)
{
    launch->open = sc_host_functions_launched(launch->uses.ticks, launch->uses.stream->id, 0);
    sc_launch_uses_judge(&launch->uses, SC_RUNS_GATED);
}

/* A stack is taken. */
static __attribute__((noinline)) void note_allocations(const struct launch *launch)
{
    sc_track_graph_allocates(&sc_track, launch->uses.exec, launch->uses.stream->context->legacy,
                             sc_made_here(launch->uses.call));
}

/* ---- around the call ----
 *
 * What these need of the stack does not stand there while the driver is called. */

/* In a capturing stream the driver refuses a launch. */
static __attribute__((noinline)) void launch_begins(struct launch *launch, CUgraphExec exec,
                                                    CUstream stream)
{
    launch->uses.stream =
        sc_active() ? sc_streams_find(stream, launch->uses.call->per_thread) : NULL;
    if (launch->uses.stream && sc_streams_is_capturing(launch->uses.stream))
        launch->uses.stream = NULL;
    if (!launch->uses.stream)
        return;
    find_exec(launch, exec);
    SC_KEEP_ERRNO();
    if (sc_unlikely(sc_replaying_prepares())) {
        launch->uses.has_device = false;
        sc_launch_uses_judge(&launch->uses, SC_RUNS_ALL);
        launch->uses.stream = NULL;
        return;
    }
    note_work(launch);
    note_signals(launch);
    if (launch->uses.graph && launch->uses.graph->freed_count)
        report_freed(launch);
    if (launch->uses.graph && launch->uses.graph->stack_count)
        look_at_stacks(launch);
    sc_launch_uses_judge(&launch->uses, launch->hears ? SC_RUNS_FREE : SC_RUNS_ALL);
    if (launch->has_kernels)
        sc_work_may_write(launch->uses.call, launch->uses.stream, launch->uses.last,
                          launch->seen && !launch->uses.awaits_events);
    judge_uses(launch);
    if (launch->hears)
        open_host_nodes(launch);
    begin_call(launch);
}

/* The launch has waited for its stream. */
static void know_all(const struct launch *launch, CUstream stream)
{
    struct sc_sync sync;
    sc_sync_begin_stream(&sync, launch->uses.call, stream);
    sc_sync_end(&sync, CUDA_SUCCESS);
}

/* An event that a capture recorded before means the launch from now on. */
static void end_records(struct launch *launch, const struct sc_told *told)
{
    uintptr_t event;
    uint32_t at = 0;
    while ((event =
                SC_TRACKED(sc_graphs_next_event(track.graphs, launch->uses.exec, false, &at))) != 0)
        sc_captures_note_event((CUevent)event, NULL);
    sc_track_launch_records(&sc_track, launch->uses.exec, &launch->before, told);
    if (told->broken)
        sc_guard_apply(SC_GUARD_ALL);
}

/* Some host nodes may have run by now. */
static void note_heard(struct launch *launch, const struct sc_told *told)
{
    struct sc_point point = SC_TRACKED(sc_heard_launched(track.order, launch->heard, told));
    launch->heard = NULL;
    if (!point.stream)
        return;
    sc_hazards_know(&point, SC_CULPRIT_OF(launch->uses.call));
    sc_guard_apply(SC_GUARD_ALL);
}

/* Nodes tell of some of the operations before the launch is done. */
static __attribute__((noinline)) void record_what_is_told(struct launch *launch)
{
    bool is_lost = launch->hears && !launch->heard;
    bool notes_device = launch->uses.has_device;
    struct sc_told told = {.last = launch->before.number, .broken = is_lost};
    struct sc_op_info moment = {.unsure = launch->hears ? SC_UNSURE_WAITS : 0};
    uint64_t behind = launch->before.number;
    launch->uses.told = &told;
    sc_launch_uses_record(&launch->uses, &moment);
    if (told.broken && notes_device)
        SC_TRACKED(sc_device_unsee(track.inflight, launch->uses.stream->id, behind));
    sc_told_done(&told);
    launch->uses.told = NULL;
    if (launch->heard)
        note_heard(launch, &told);
    if (launch->hears && notes_device && !told.broken)
        SC_TRACKED(sc_device_see(track.inflight, launch->uses.stream->id, behind, moment.ticks));
    end_records(launch, &told);
}

/* Together with what its kernels use. */
static void record_all(struct launch *launch)
{
    struct sc_op_info moment = {0};
    if (judges_kernels(launch))
        sc_kernel_uses_note_graph(launch->uses.call, launch->uses.stream, launch->uses.exec,
                                  launch->host, launch->uses.place, &moment);
    sc_launch_uses_record(&launch->uses, &moment);
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
    SC_KEEP_ERRNO();
    sc_track_end(&sc_track, &launch->ordered, result == CUDA_SUCCESS);
    if (result != CUDA_SUCCESS)
        forget_what_is_told(launch);
    if (!launch->uses.stream || result != CUDA_SUCCESS)
        return result;
    sc_unfinished_host_work(launch->uses.stream);
    sc_marks_note_tail(launch->uses.stream);
    if (launch->allocates)
        note_allocations(launch);
    if (launch->records || launch->hears)
        record_what_is_told(launch);
    else
        record_all(launch);
    if (!launch->uses.graph)
        SC_TRACKED(sc_graphs_launched(track.graphs, (uintptr_t)exec, launch->uses.stream->id));
    sc_work_note(launch->uses.call, launch->uses.stream,
                 sc_track_issued(&sc_track, launch->uses.stream->id) + !launch->uses.graph,
                 sc_ticks());
    if (launch->awaits)
        SC_TRACKED(sc_unseen_end(track.order, &launch->waits_from));
    if (launch->uses.graph && launch->uses.graph->stack_count)
        bring_results(launch);
    if (blocks_host(launch))
        know_all(launch, stream);
    return result;
}

SC_PAIR(cuGraphLaunch, _ptsz, (CUgraphExec exec, CUstream stream), (exec, stream))
{
    struct sc_detour detour;
    struct sc_kernel_host host;
    struct launch launch = {.uses.call = call, .host = &host};
    sc_detour_begin(&detour, call, &stream);
    launch_begins(&launch, exec, stream);
    CUresult result = real(exec, stream);
    if (sc_detour_leaves_to_caller(&detour))
        sc_permit_refused(call, result);
    if (sc_beside_is_asked() && result == CUDA_SUCCESS)
        sc_beside_graph_launched((uintptr_t)exec);
    CUresult answer = sc_detour_end(&detour, launch_ended(&launch, exec, stream, result));
    if (sc_process_attends_launches() && answer == CUDA_SUCCESS && launch.uses.stream)
        sc_limits_launched(call, launch.uses.stream->context, NULL);
    return answer;
}
