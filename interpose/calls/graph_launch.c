/* The wrapper of cuGraphLaunch. Adjoining host memory that nodes of the exec (the instantiated
 * graph) use becomes one operation on the stream. A launch that uses memory freed since (SC401), or
 * locals of a function that has returned (SC402), is reported before it runs. */

/* Terms (docs/glossary.md):
 *   exec: an instantiated graph (CUgraphExec)
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   held: of memory: freed by the program, and kept by the library until the device is done
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   known done: waited for by the program, itself or by something behind it
 *   not judged: of a touch or operation: it got no verdict; counted by reason
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   redirect: to let a node of an exec read a copy instead of a stack
 *   source: the memory that a copy reads
 *   stage: the part of a graph's nodes that one notifier tells the host of
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 */

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
#include "interpose/graph/copy_sides.h"
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
#include "track/hold_kind.h"
#include "track/op_info.h"
#include "track/order_calls.h"
#include "track/stages.h"
#include "track/stream_front.h"
#include "track/track.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_parts.h"
#include "track/track_streams.h"
#include "track/unseen.h"
#include "track/watched_nodes.h"

#include "common/poison.h"

/* One launch, from before the driver's call until the launch is noted. What is said of nodes is of
 * those of the instantiated graph (the exec). */
struct launch {
    struct sc_launch_uses uses; /* what it does with memory; `stream` NULL: nothing is to be done */
    bool records;               /* a node records an event */
    bool signals, awaits;       /* nodes tell the host, or wait for the host, unseen */
    bool is_known;              /* what the nodes wait for, and tell, is known */
    bool watches;               /* it has host nodes whose runs are seen */
    bool seen; /* no unseen wait for the host: not of nodes, nor of what the launch comes after */
    bool allocates;   /* nodes allocate or free memory */
    bool races;       /* two nodes that use the same memory are ordered by no edge */
    bool has_kernels; /* there may be a kernel among the nodes */
    bool is_empty;    /* the launch has no work: nothing comes after it */
    struct sc_order_call ordered;
    struct sc_ticket waits_from; /* with `awaits`: where its own unseen wait begins */
    struct sc_point before;      /* with `records` or `watches`: what the launch comes after */
    struct sc_watched_launch *watched; /* where runs of host nodes are noted; NULL: nowhere */
    unsigned host_call;          /* the host nodes, as a host function that may wait for the program
                                    (streams/host_functions.h) */
    struct sc_kernel_host *host; /* what kernels have addresses of, if they are watched */
};

/* ---- hazards of the graph itself ---- */

/* Reports that a node of the launched graph uses memory that is gone (SC401, SC402). */
static void report_use(const struct launch *launch, enum sc_hazard_code code, enum sc_action action,
                       const struct sc_graph_use *use, const struct sc_graph_extra *extra)
{
    sc_hazards_report_graph(code, action, use, extra, SC_CULPRIT_OF(launch->uses.call));
}

/* Called before a launch: reports nodes that use memory which the program has freed after the graph
 * was instantiated (SC401). If the library has kept that memory (a hold), it still has the
 * program's bytes, and the report says so. Launches leave out disabled nodes. */
static void report_freed(const struct launch *launch)
{
    struct sc_graph_use use;
    struct sc_graph_extra extra;
    for (uint32_t i = 0;
         SC_TRACKED(sc_graphs_get_use(track.graphs, launch->uses.exec, i, &use, &extra)); i++) {
        if (!use.freed || use.disabled)
            continue;
        bool held =
            sc_track_is_held(&sc_track, use.shape.address, 1, SC_HOLDS_ALL | SC_HOLDS_BY_GRAPH);
        report_use(launch, SC401, held ? SC_ACTION_HELD : SC_ACTION_REPORTED, &use, &extra);
    }
}

/* Called before a launch: for each local variable that a node uses, copies its present bytes into
 * the copy that the node reads, if the variable's function still runs; if not, reports the use
 * (SC402). Launches leave out disabled nodes. */
static void check_stack_uses(const struct launch *launch)
{
    struct sc_graph_use use;
    struct sc_graph_extra extra;
    struct sc_running running = sc_stack_sources_here();
    for (uint32_t i = 0;
         SC_TRACKED(sc_graphs_get_use(track.graphs, launch->uses.exec, i, &use, &extra)); i++) {
        if (use.kind != SC_STACK || use.disabled ||
            sc_stack_sources_refresh(&use, &extra, &running))
            continue;
        report_use(launch, SC402, use.redirected ? SC_ACTION_SNAPSHOTTED : SC_ACTION_REPORTED, &use,
                   &extra);
    }
}

/* Called behind a launch that has waited for its stream: copies what nodes have written into copies
 * of local variables (`redirected`) to the variables themselves. If a variable's function has
 * returned, the result is dropped: the stack has other bytes there now. */
static void copy_results_to_stacks(const struct launch *launch)
{
    struct sc_graph_use use;
    struct sc_graph_extra extra;
    struct sc_running running = sc_stack_sources_here();
    for (uint32_t i = 0;
         SC_TRACKED(sc_graphs_get_use(track.graphs, launch->uses.exec, i, &use, &extra)); i++)
        if (use.kind == SC_STACK && use.direction == SC_D2H && use.redirected && !use.disabled &&
            sc_stack_sources_frame_lives(&use, &extra, &running))
            memcpy((void *)use.shape.address, extra.saved, use.shape.width_bytes);
}

/* ---- before the call ---- */

/* Does the library see the end of every wait for the host that the launch comes after: on its
 * stream, before the last launch of the same exec (instantiated graph), and before events for which
 * nodes wait? */
static bool is_order_before_seen(const struct launch *launch)
{
    struct sc_order_call ordered;
    if (!sc_track_attends(SC_ATTENDS_UNSEEN_WAITS))
        return true;
    sc_track_begin_launch(&sc_track, launch->uses.exec, launch->uses.stream->id, &ordered);
    struct sc_point after = sc_track_call_point(&sc_track, launch->uses.stream->id, &ordered);
    bool is_seen =
        sc_track_find_unseen_before(&sc_track, launch->uses.stream->id, &after).waits == 0;
    sc_track_end_call(&sc_track, &ordered, /*issued=*/false);
    sc_track_release_point(&sc_track, &after);
    return is_seen;
}

/* Do nodes of the graph record events or wait for them? Then parts of the launch are ordered with
 * other work, and not only the launch as a whole. */
static bool has_events(const struct launch *launch)
{
    return launch->records || launch->uses.awaits_events;
}

/* Does the call wait for its stream? It does if a node writes pageable memory or copies between
 * host memory, unless the device accesses pageable memory itself. */
static bool blocks_host(const struct launch *launch)
{
    return launch->uses.graph && launch->uses.graph->waiting_count &&
           !launch->uses.stream->context->reads_pageable;
}

/* Fills in what the library knows of the exec (the instantiated graph) that is about to be
 * launched. An unknown one may have kernels, and uses no memory of interest. A host node whose runs
 * cannot be matched with launches any more (`is_lost`) may tell the host anything, or wait for it,
 * unseen. The exec's former launch on another stream (`last`) comes before this one: the driver
 * sees to that. */
static void describe_exec(struct launch *launch, CUgraphExec exec)
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
    launch->watches = graph->exec.watched && graph->exec.watched->count;
    bool is_lost = launch->watches && graph->exec.watched->is_lost;
    launch->signals = graph->exec.signals || is_lost;
    bool seen_before = is_order_before_seen(launch);
    launch->awaits = graph->exec.awaits_host || is_lost;
    launch->seen = !launch->awaits && seen_before;
    launch->is_known = seen_before && !is_lost;
    launch->uses.has_device = graph->exec.device_runs && launch->is_known &&
                              !(launch->awaits && (has_events(launch) || launch->watches));
    launch->uses.healing = blocks_host(launch) ? SC_HEALED_BY_WAIT : SC_HEALED_BY_EDGE;
}

/* Called before a launch: notes the launch as work of its stream, and has earlier operations get
 * their mark (an event by which completion is learnt). A launch that uses host memory gets a mark
 * behind it, which serves for them as well, unless its nodes tell the host that earlier work is
 * done: then only a mark before the launch can show that it was not. */
static void note_work(struct launch *launch)
{
    if (!launch->uses.graph || launch->records || launch->signals || launch->watches)
        sc_marks_before_work(launch->uses.stream,
                             launch->signals ? SC_BEFORE_SIGNAL : SC_BEFORE_WORK);
    launch->uses.ticks = sc_unfinished_host_work(launch->uses.stream);
}

/* Called before a launch whose nodes may tell the host, by a way that the library does not see, how
 * far they are (a signal): the host may then know that all is done which the launch comes after. So
 * that is noted before the launch's own memory is judged. */
static void note_signals(const struct launch *launch)
{
    struct sc_order_call ordered;
    if (!launch->signals)
        return;
    sc_track_begin_launch(&sc_track, launch->uses.exec, launch->uses.stream->id, &ordered);
    SC_TRACKED(sc_order_note_call_signal(track.order, launch->uses.stream->id, &ordered,
                                         sc_replaying_follows()));
    sc_track_end_call(&sc_track, &ordered, /*issued=*/false);
}

/* Called before a launch with host nodes whose runs the library sees: adds the launch to the list
 * in which these runs are noted. An older launch may be given up for it. If there is no room, the
 * launch counts as one that waits for the host, with an end that the library does not see: nothing
 * is reported of what comes after it. */
static void begin_watched_runs(struct launch *launch)
{
    unsigned given_up;
    launch->watched = SC_TRACKED(sc_graphs_begin_watched(
        track.graphs, launch->uses.exec, &launch->before,
        &(struct sc_watched_call){launch->uses.ticks, launch->host_call}, &given_up));
    sc_host_functions_dropped(given_up);
    if (launch->watched)
        return;
    sc_host_functions_dropped(launch->host_call);
    launch->seen = launch->uses.has_device = false;
    if (!launch->awaits)
        launch->waits_from = SC_TRACKED(sc_unseen_begin(track.order, launch->uses.stream->id));
    launch->awaits = true;
}

/* Begins the launch as a call on its stream, directly before the driver's call. If its nodes record
 * events or tell the host so far, what the launch comes after is stored (`before`): these events
 * stand for that as well. A launch without work comes after nothing. */
static void begin_call(struct launch *launch)
{
    launch->ordered.stream = 0;
    if (launch->uses.exec && !launch->is_empty)
        sc_track_begin_launch(&sc_track, launch->uses.exec, launch->uses.stream->id,
                              &launch->ordered);
    else if (!launch->is_empty)
        sc_track_begin_call(&sc_track, launch->uses.stream->id, &launch->ordered);
    launch->uses.place = sc_order_place(&launch->ordered);
    if (launch->awaits)
        launch->waits_from = SC_TRACKED(sc_unseen_begin(track.order, launch->uses.stream->id));
    if (launch->records || launch->watches)
        launch->before = sc_track_call_point(&sc_track, launch->uses.stream->id, &launch->ordered);
    if (launch->watches)
        begin_watched_runs(launch);
}

/* ---- what its kernels may use, and its device memory ---- */

/* Do nodes tell the host, before the launch is done, that earlier nodes are (by events or host
 * functions)? Then the launch's operations are recorded stage by stage, a stage for each such node.
 */
static bool has_notifiers(const struct launch *launch)
{
    return launch->records || launch->watches;
}

/* Are the uses of kernels judged? They count for the launch as a whole, and not for a stage. So
 * they are not judged if a node tells the host that earlier nodes are done, or waits for the host:
 * then a kernel may be in any order with other work. */
static bool judges_kernels(const struct launch *launch)
{
    return sc_kernel_uses_are_watched() && launch->uses.exec && launch->seen && !launch->signals &&
           !has_events(launch) && !launch->watches;
}

/* Describes the launch for kernel_uses.h, which judges what its kernels may do with memory.
 * `in_order`: a kernel comes after no other work than the launch as a whole is seen to. */
static struct sc_kernel_launch kernels_of(const struct launch *launch)
{
    bool is_judged = judges_kernels(launch);
    return (struct sc_kernel_launch){
        .exec = launch->uses.exec,
        .after = launch->uses.last,
        .is_judged = is_judged,
        .in_order = is_judged || (launch->seen && !launch->uses.awaits_events),
    };
}

/* Reports pairs of nodes that use the same device memory and that no edge orders (SC501). Nothing
 * is reported if the order may have been made otherwise: by host nodes whose runs are lost, or
 * because one node waits for an event while others tell the host how far they are, so that the
 * event may stand for what these have told. */
static void report_races(const struct launch *launch)
{
    bool may_tell = launch->signals || has_notifiers(launch);
    if (launch->is_known && !(launch->uses.awaits_events && may_tell))
        sc_launch_uses_report_races(&launch->uses);
}

/* Called before a launch: reports races between its nodes, and judges what its kernels may do with
 * memory, if an option asks for that. */
static void judge_races_and_kernels(const struct launch *launch)
{
    if (sc_unlikely(launch->races))
        report_races(launch);
    if (!sc_kernel_uses_are_watched() || !launch->uses.exec)
        return;
    const struct sc_kernel_launch kernels = kernels_of(launch);
    sc_kernel_uses_judge(launch->uses.call, launch->uses.stream, &kernels, launch->host);
}

/* Called before a launch with host nodes whose runs the library sees: from now on these may wait
 * for the program. Only now is device memory judged that nodes behind them use, since such a wait
 * may put those nodes in order with other work. */
static void begin_host_nodes(struct launch *launch)
{
    launch->host_call = sc_host_functions_launched(launch->uses.ticks, launch->uses.stream->id, 0);
    sc_launch_uses_judge(&launch->uses, SC_RUNS_GATED);
}

/* Called behind an accepted launch: notes the device memory that its nodes allocate, in which
 * nothing done before counts any more. Not inlined, since a call stack is taken. */
static __attribute__((noinline)) void note_allocations(const struct launch *launch)
{
    sc_track_note_graph_allocations(&sc_track, launch->uses.exec,
                                    launch->uses.stream->context->legacy,
                                    sc_made_here(launch->uses.call));
}

/* ---- around the call ----
 *
 * These are not inlined, so that their locals do not stand on the stack while the driver is called.
 */

/* Called before the driver's call: finds what is known of the graph, judges what its nodes do with
 * memory, and begins the launch as a call on its stream. Nothing is noted on a stream that
 * captures, where the driver refuses a launch. A replay before the driver's call (of a launch that
 * came through no wrapper) only makes the stream wait for what conflicts: a second run behind the
 * call notes the launch. Its device memory is left to that run. */
static __attribute__((noinline)) void begin_launch(struct launch *launch, CUgraphExec exec,
                                                   CUstream stream)
{
    launch->uses.stream =
        sc_active() ? sc_streams_find(stream, launch->uses.call->per_thread) : NULL;
    if (launch->uses.stream && sc_streams_is_capturing(launch->uses.stream))
        launch->uses.stream = NULL;
    if (!launch->uses.stream)
        return;
    describe_exec(launch, exec);
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
        check_stack_uses(launch);
    /* What lies behind host nodes that are watched is judged by begin_host_nodes. */
    sc_launch_uses_judge(&launch->uses, launch->watches ? SC_RUNS_FREE : SC_RUNS_ALL);
    if (launch->has_kernels) /* a kernel may write any managed memory */
        sc_work_may_write(launch->uses.call, launch->uses.stream, launch->uses.last,
                          launch->seen && !launch->uses.awaits_events);
    judge_races_and_kernels(launch);
    if (launch->watches)
        begin_host_nodes(launch);
    begin_call(launch);
}

/* Called behind a launch that has waited for its stream: the host knows the stream's work to be
 * done. */
static void end_wait_for_stream(const struct launch *launch, CUstream stream)
{
    struct sc_sync sync;
    sc_sync_begin_stream(&sync, launch->uses.call, stream);
    sc_sync_end(&sync, CUDA_SUCCESS);
}

/* Called behind an accepted launch: sets what the events stand for that its nodes record. An event
 * that was recorded in the graph's capture belongs to that capture no longer. If the operations of
 * a stage did not get adjoining numbers (`broken`), pages of the launch are brought into line. */
static void end_records(struct launch *launch, const struct sc_stages *stages)
{
    uintptr_t event;
    uint32_t at = 0;
    while ((event =
                SC_TRACKED(sc_graphs_next_event(track.graphs, launch->uses.exec, false, &at))) != 0)
        sc_captures_note_event((CUevent)event, NULL);
    sc_track_note_launch_records(&sc_track, launch->uses.exec, &launch->before, stages);
    if (stages->broken)
        sc_guard_apply(SC_GUARD_ALL);
}

/* Called when the operations of a launch are recorded: tells the list in which its host nodes' runs
 * are noted which numbers they have. Some nodes may have run before the driver has returned: what
 * comes before them is known done, and its pages are unprotected. */
static void note_watched_runs(struct launch *launch, const struct sc_stages *stages)
{
    struct sc_point point =
        SC_TRACKED(sc_watched_nodes_end_launch(track.order, launch->watched, stages));
    launch->watched = NULL;
    if (!point.stream)
        return;
    sc_hazards_note_done_and_report(&point, SC_CULPRIT_OF(launch->uses.call));
    sc_guard_apply(SC_GUARD_ALL);
}

/* Records an accepted launch whose nodes tell the host of some operations before all are done:
 * stage by stage, a stage for each such node. While it is not noted yet which host nodes have run,
 * its uses of device memory are of unknown order (SC_UNSURE_WAITS, "unseen"). They stay so if
 * operations of other threads came in between (`broken`): then no number ends a stage. */
static __attribute__((noinline)) void record_by_stages(struct launch *launch)
{
    bool is_lost = launch->watches && !launch->watched;
    bool notes_device = launch->uses.has_device;
    struct sc_stages stages = {.last = launch->before.number, .broken = is_lost};
    struct sc_op_info moment = {.unsure = launch->watches ? SC_UNSURE_WAITS : 0};
    uint64_t behind = launch->before.number;
    launch->uses.stages = &stages;
    sc_launch_uses_record(&launch->uses, &moment);
    if (stages.broken && notes_device)
        SC_TRACKED(sc_device_mark_unseen(track.inflight, launch->uses.stream->id, behind));
    sc_stages_close(&stages);
    launch->uses.stages = NULL;
    if (launch->watched)
        note_watched_runs(launch, &stages);
    if (launch->watches && notes_device && !stages.broken)
        SC_TRACKED(
            sc_device_clear_unseen(track.inflight, launch->uses.stream->id, behind, moment.ticks));
    end_records(launch, &stages);
}

/* Records an accepted launch whose nodes tell the host nothing: what its kernels may do with
 * memory, and its other uses of device memory, with one ticket (place on the stream). */
static void record_all(struct launch *launch)
{
    struct sc_op_info moment = {0};
    const struct sc_kernel_launch kernels = kernels_of(launch);
    if (kernels.is_judged)
        sc_kernel_uses_note(launch->uses.call, launch->uses.stream, &kernels, launch->host,
                            launch->uses.place, &moment);
    sc_launch_uses_record(&launch->uses, &moment);
}

/* Called if the driver has refused a launch whose nodes would have told the host how far they are:
 * drops what was stored for that before the call. */
static void forget_notices(struct launch *launch)
{
    if (launch->records || launch->watches)
        sc_track_release_point(&sc_track, &launch->before);
    if (!launch->watched)
        return;
    SC_TRACKED(sc_watched_nodes_fail_launch(track.order, launch->watched));
    sc_host_functions_dropped(launch->host_call);
}

/* Called when the driver has answered: records an accepted launch, and what follows from it (memory
 * that it allocates, its entry in the history for the post-mortem, a wait for the host with unseen
 * end). If the call has waited for its stream, results are copied to local variables, and the
 * stream's work is known done. If nodes use pageable memory that only the driver still takes for
 * registered, it has not waited as the program expects, and the wait is made here. Without host
 * memory (`uses.graph` NULL) the launch has no number of its own: it is done before the stream's
 * next operation. Returns `result`. */
static __attribute__((noinline)) CUresult end_launch(struct launch *launch, CUgraphExec exec,
                                                     CUstream stream, CUresult result)
{
    SC_KEEP_ERRNO();
    sc_track_end_call(&sc_track, &launch->ordered, result == CUDA_SUCCESS);
    if (result != CUDA_SUCCESS)
        forget_notices(launch);
    if (!launch->uses.stream || result != CUDA_SUCCESS)
        return result;
    sc_unfinished_host_work(launch->uses.stream);
    sc_marks_note_tail(launch->uses.stream);
    if (launch->allocates)
        note_allocations(launch);
    if (launch->records || launch->watches)
        record_by_stages(launch);
    else
        record_all(launch);
    if (!launch->uses.graph)
        SC_TRACKED(sc_graphs_note_launched(track.graphs, (uintptr_t)exec, launch->uses.stream->id));
    sc_work_add_history(launch->uses.call, launch->uses.stream,
                        sc_track_issued(&sc_track, launch->uses.stream->id) + !launch->uses.graph,
                        sc_ticks());
    if (launch->awaits)
        SC_TRACKED(sc_unseen_end(track.order, &launch->waits_from));
    if (launch->uses.graph && launch->uses.graph->stack_count)
        copy_results_to_stacks(launch);
    if (blocks_host(launch))
        end_wait_for_stream(launch, stream);
    return result;
}

/* Launches a graph. On the legacy stream while a blocking stream captures, the launch would break
 * the capture, and is made on a private stream (a detour); on a stream that itself captures it is
 * refused, which is reported. The last two notes are for those who look for work that captured
 * graphs lack (SC305), and for the size of the device's heap, which the first launch of a kernel
 * may fix. */
SC_PAIR(cuGraphLaunch, _ptsz, (CUgraphExec exec, CUstream stream), (exec, stream))
{
    struct sc_detour detour;
    struct sc_kernel_host host;
    struct launch launch = {.uses.call = call, .host = &host};
    sc_detour_begin(&detour, call, &stream);
    begin_launch(&launch, exec, stream);
    CUresult result = real(exec, stream);
    if (sc_detour_leave_report_to_caller(&detour))
        sc_permit_report_refused(call, result);
    if (sc_beside_needs_calls() && result == CUDA_SUCCESS)
        sc_beside_note_launched((uintptr_t)exec);
    CUresult answer = sc_detour_end(&detour, end_launch(&launch, exec, stream, result));
    if (sc_process_watches_launches() && answer == CUDA_SUCCESS && launch.uses.stream)
        sc_limits_launched(call, launch.uses.stream->context, NULL);
    return answer;
}
