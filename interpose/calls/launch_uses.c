#include "interpose/calls/launch_uses.h"

#include <stddef.h>

#include "common/op_kinds.h"
#include "common/pages.h"
#include "common/shape.h"
#include "common/unsure.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/calls/issue.h"
#include "interpose/calls/issue_ops.h"
#include "interpose/driver/replaying.h"
#include "interpose/guard/door.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/hazards.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/marks.h"
#include "report/options.h"
#include "track/allocations.h"
#include "track/device_use.h"
#include "track/graph_records.h"
#include "track/graphs.h"
#include "track/hold.h"
#include "track/stages.h"
#include "track/track.h"
#include "track/track_graphs.h"
#include "track/track_order.h"
#include "track/track_ranges.h"

#include "common/poison.h"

/* ---- host memory: an operation for each run ---- */

/* Has the program freed the memory of this run (memory that the graph's nodes use), and the library
 * not kept it? Then it may have a new owner by now, whom no report may accuse. In mode=fix the
 * library keeps such memory, except where a free came through no wrapper (a replay), and was made
 * already. */
static bool may_be_reused(const struct sc_graph_use *run)
{
    return run->freed && (sc_options.mode != SC_MODE_FIX || sc_replaying_is_on());
}

/* Does the launch use the run (memory that the graph's nodes use) before it returns? It does if the
 * memory was pageable when the node was added, registered by now or not. A device that uses
 * pageable memory itself does so after the call. */
static bool is_used_in_call(const struct sc_issue *issue, const struct sc_graph_use *run)
{
    return (run->in_call || run->kind == SC_PAGEABLE) &&
           (run->direction == SC_H2D || run->direction == SC_D2H) &&
           !issue->stream->context->reads_pageable;
}

/* Adds to the issue a run (memory that the graph's nodes use) that the program has not freed: as a
 * touch if the launch uses it before it returns, else as an operation in flight. */
static void begin_known_run(struct sc_issue *issue, const struct sc_graph_use *run)
{
    const struct sc_graph_extra *extra = sc_track_graph_extra(&sc_track, run);
    if (is_used_in_call(issue, run))
        sc_issue_add_touch(issue, run->direction == SC_H2D ? SC_TOUCH_READ : SC_TOUCH_WRITE,
                           &run->shape);
    else
        sc_issue_add_host_shape(issue, run->direction, &run->shape);
    sc_issue_set_fold(issue, 0, &extra->fold);
}

/* Begins an issue whose only host memory is this run: adjoining memory that the launched graph's
 * nodes use in one way. Of freed memory nothing is known any more, so its bytes count as pageable.
 * The launch as a whole waits for the stream, if it does, so a single run never does. */
static void begin_run(struct sc_issue *issue, const struct sc_launch_uses *launch,
                      const struct sc_graph_use *run)
{
    size_t hull_bytes = sc_shape_hull_bytes(&run->shape);
    const struct sc_shape hull = {run->shape.address, hull_bytes, hull_bytes, 1};
    sc_issue_begin_uncaptured(issue, launch->call, launch->stream);
    uint8_t unjudged = may_be_reused(run) ? SC_UNSURE_UNJUDGED : 0;
    sc_issue_set_graph(issue, run->unsure | unjudged, launch->ticks);
    if (run->freed)
        sc_issue_add_pageable(issue, run->direction, &hull, /*is_there=*/false);
    else
        begin_known_run(issue, run);
    issue->joins_stream = false;
    issue->is_judged = launch->awaits_events; /* it will stand behind a wait */
    issue->place = launch->place;
}

/* Called before a launch: judges one run (adjoining memory that the graph's nodes use), and in
 * mode=fix orders the launch after what conflicts. Most runs cannot conflict with anything and
 * write no host memory: they need no issue. */
static void judge_run(const struct sc_launch_uses *launch, const struct sc_graph_use *run)
{
    struct sc_issue issue;
    uint32_t range = run->kind == SC_PAGEABLE /* registered since, perhaps */
                         ? sc_track_find_range(&sc_track, run->shape.address).range
                         : run->range;
    if (!run->freed && !sc_direction_writes_host(run->direction) &&
        !sc_track_may_conflict(&sc_track, range, run->direction, launch->stream->id))
        return;
    begin_run(&issue, launch, run);
    issue.after = launch->last;
    if (issue.op_count)
        sc_issue_judge_and_order(&issue);
    else
        sc_issue_judge_touches(&issue);
}

/* Records one run (adjoining memory that the nodes of an accepted launch use) as an operation on
 * host memory. Notes its number for the stage of the graph that it belongs to, which a node will
 * report as done, and, for freed memory, that the library keeps that memory until this operation is
 * done. Returns its bytes. */
static size_t record_run(const struct sc_launch_uses *launch, const struct sc_graph_use *run,
                         uint32_t stack)
{
    struct sc_issue issue;
    struct sc_issue_ops ops;
    begin_run(&issue, launch, run);
    sc_issue_describe(&issue, &ops);
    size_t size_bytes = ops.count ? sc_issue_record(&issue, &ops, stack, launch->ticks) : 0;
    for (unsigned i = 0; launch->stages && i < ops.count; i++)
        sc_stages_note(launch->stages, run->stage, ops.of[i].ticket.number);
    if (ops.count && run->freed)
        SC_TRACKED(sc_holds_require_in(track.holds, run->shape.address,
                                       sc_shape_hull_bytes(&run->shape), &ops.of[0].ticket));
    return size_bytes;
}

/* Quick way for an instantiated graph that is launched again on the same stream: records its first
 * runs (adjoining memory that nodes use) from what its last launch has recorded, up to the first
 * run that has changed since. Returns how many it has recorded; *size_bytes: the sum of their
 * bytes. */
static uint32_t reissue_unchanged(const struct sc_launch_uses *launch, uint32_t stack,
                                  size_t *size_bytes)
{
    struct sc_relaunch again = {
        .exec = launch->exec,
        .stream = launch->stream->id,
        .api = launch->call->api,
        .stack = stack,
        .thread = sc_thread_id(),
        .ticks = launch->ticks,
        .unseen_waits = sc_track_find_unseen_before(&sc_track, launch->stream->id, NULL),
        .stages = launch->stages,
        .place = launch->place,
    };
    again.guards = sc_options.guard && again.unseen_waits.waits == 0;
    sc_track_relaunch(&sc_track, &again);
    *size_bytes = again.size_bytes;
    return again.done;
}

/* ---- device memory ---- */

/* Describes a run of device memory (bytes that the graph's nodes use) as a use, to be judged. Of
 * the reasons for an uncertain order only one matters here: that the launch may leave the node out.
 */
static struct sc_device_use device_use(struct sc_graphs *graphs, const struct sc_graph_use *run)
{
    return (struct sc_device_use){
        .shape = run->shape,
        .fold = sc_graphs_extra(graphs, run)->fold,
        .direction = run->direction,
        .access = run->reads_device ? SC_DEVICE_READS : SC_DEVICE_WRITES,
        .unsure = run->unsure & SC_UNSURE_LEFT_OUT,
    };
}

/* Sets the size of a block that is freed: the graph names only its address, so it is the block that
 * lies there at the launch. */
static void set_freed_bytes(struct sc_allocations *allocations, struct sc_device_use *use)
{
    size_t bytes =
        use->direction == SC_FREE ? sc_allocations_block_bytes(allocations, use->shape.address) : 0;
    if (bytes)
        use->shape.width_bytes = use->shape.pitch_bytes = bytes;
}

/* Copies the next uses of device memory to `into`, as many as there is room for, and moves `at`,
 * the index of the run to continue with. */
static uint32_t next_uses(const struct sc_launch_uses *launch, int which, uint32_t *at,
                          struct sc_device_use *into)
{
    SC_TRACK_SCOPE(track);
    const struct sc_exec *exec = &sc_graphs_get(track.graphs, launch->exec)->exec;
    uint32_t count = 0;
    for (; *at < exec->device_runs && count < SC_DEVICE_USES_AT_ONCE; ++*at) {
        const struct sc_graph_use *run = &exec->runs.list[exec->host_runs + *at];
        if (!sc_graphs_run_is_selected(run, which))
            continue;
        into[count] = device_use(track.graphs, run);
        set_freed_bytes(track.allocations, &into[count++]);
    }
    return count;
}

/* Judges the launch's uses of device memory before the driver's call, in portions, since there may
 * be thousands. `which`: which runs (SC_RUNS_...; a run is adjoining memory that nodes use);
 * `after`: what the launch comes after besides its stream's work, or NULL. */
static void judge_device(const struct sc_launch_uses *launch, int which,
                         const struct sc_point *after)
{
    struct sc_device_use uses[SC_DEVICE_USES_AT_ONCE];
    uint32_t at = 0, count;
    while ((count = next_uses(launch, which, &at, uses)) > 0)
        sc_device_uses_judge_all(uses, count, launch->call, launch->stream, launch->healing, after);
}

/* Records the uses of device memory of an accepted launch, all with one ticket (place on the
 * stream), which is stored in `moment`. `which`: which runs (adjoining memory that nodes use;
 * SC_RUNS_... or the number of a stage). Returns false if there are none. */
static bool note_device(const struct sc_launch_uses *launch, int which, struct sc_op_info *moment)
{
    struct sc_device_use uses[SC_DEVICE_USES_AT_ONCE];
    uint32_t at = 0, count;
    bool any = false;
    for (; (count = next_uses(launch, which, &at, uses)) > 0; any = true)
        moment->ticket = sc_device_uses_note_all(uses, count, launch->call, launch->stream, moment);
    return any;
}

/* ---- either ---- */

/* Called before a graph is launched: judges what its nodes do with host and device memory. `which`:
 * the runs of device memory before which no node may wait for the program, or the others
 * (SC_RUNS_GATED), which are judged later; host memory is judged once, with the first ones. */
void sc_launch_uses_judge(const struct sc_launch_uses *launch, int which)
{
    uint32_t count = launch->graph && which != SC_RUNS_GATED ? launch->known->host_runs : 0;
    for (uint32_t i = 0; i < count; i++)
        judge_run(launch, &launch->known->runs.list[i]);
    if (sc_likely(!launch->has_device))
        return;
    if (launch->awaits_events) {
        /* The launch comes after the events that its nodes wait for. All its nodes are judged as if
         * they came after them: which of them do is not asked. */
        struct sc_order_call ordered;
        sc_track_begin_launch(&sc_track, launch->exec, launch->stream->id, &ordered);
        struct sc_point after = sc_track_call_point(&sc_track, launch->stream->id, &ordered);
        judge_device(launch, which, &after);
        sc_track_end_call(&sc_track, &ordered, /*issued=*/false);
        sc_track_release_point(&sc_track, &after);
    } else
        judge_device(launch, which, launch->last);
}

/* Records the launch's runs of host memory that belong to one stage (the nodes that one node
 * reports as done), or with SC_RUNS_IN_FLIGHT all of them. They are sorted by stage: `at` is the
 * first one to record, and is moved. Returns the sum of their bytes. */
static size_t record_host(const struct sc_launch_uses *launch, int stage, uint32_t *at,
                          uint32_t stack)
{
    const struct sc_exec *exec = launch->known;
    const struct sc_graph_use *runs = exec->runs.list;
    size_t size_bytes = 0;
    for (; launch->graph && *at < exec->host_runs; ++*at) {
        if (stage != SC_RUNS_IN_FLIGHT && runs[*at].stage != stage)
            break;
        size_bytes += record_run(launch, &runs[*at], stack);
    }
    return size_bytes;
}

/* Records what the nodes of one stage do with memory (a stage ends with a node that tells the host
 * so far). Its uses of device memory share a number of their own, behind those of host memory, by
 * which they are known done with the stage. Returns the bytes of host memory. */
static size_t record_stage(const struct sc_launch_uses *launch, int stage, uint32_t *at,
                           struct sc_op_info *moment)
{
    size_t size_bytes = record_host(launch, stage, at, moment->stack);
    moment->ticket = (struct sc_ticket){.stream = launch->stream->id, .epoch = launch->place};
    if ((launch->known->device_stages >> stage & 1) && note_device(launch, stage, moment))
        sc_stages_note(launch->stages, (unsigned)stage, moment->ticket.number);
    return size_bytes;
}

/* Records a launch in which nodes tell the host how far it has come: stage by stage, so that each
 * stage has numbers of its own, up to which the host may know it to be done. Nodes of which none
 * tells (stage 0) come last: they end with the launch. Returns the bytes of host memory. */
static size_t record_stages(const struct sc_launch_uses *launch, struct sc_op_info *moment)
{
    size_t size_bytes = 0;
    uint32_t at = 0;
    for (int stage = 1; stage <= SC_STAGES_MAX; stage++)
        size_bytes += record_stage(launch, stage, &at, moment);
    return size_bytes + record_stage(launch, 0, &at, moment);
}

/* Records a launch in which no node tells the host how far it has come: all uses of device memory
 * share one ticket (place on the stream), and each run of host memory becomes an operation. A graph
 * that is launched again takes a quick way; `is_noted`: that way has noted the launch itself as
 * well. Returns the bytes of host memory. */
static size_t record_at_once(const struct sc_launch_uses *launch, struct sc_op_info *moment,
                             bool *is_noted)
{
    size_t size_bytes = 0;
    uint32_t at = 0;
    if (launch->has_device)
        note_device(launch, SC_RUNS_IN_FLIGHT, moment);
    if (launch->graph && launch->again)
        at = reissue_unchanged(launch, moment->stack, &size_bytes);
    *is_noted = launch->again && at == launch->known->host_runs;
    return size_bytes + record_host(launch, SC_RUNS_IN_FLIGHT, &at, moment->stack);
}

/* Called behind an accepted launch of a graph that uses host memory (`graph`) or device memory that
 * is watched (`has_device`): records what its nodes do there, stage by stage if nodes tell the host
 * how far the launch has come. For host memory it then protects pages, records a mark (an event by
 * which completion is learnt) if one is due, and notes the launch itself, unless that is done
 * already. `moment`: what the launch's uses have in common; ticks 0: not set yet, since kernels
 * have recorded none. */
void sc_launch_uses_record(const struct sc_launch_uses *launch, struct sc_op_info *moment)
{
    const struct sc_op_info given = *moment;
    bool is_noted = false;
    if (!launch->graph && !launch->has_device)
        return;
    if (given.ticks == 0)
        *moment = sc_device_uses_call_info(launch->call, launch->stream, launch->place);
    moment->unsure = given.unsure;
    size_t size_bytes = launch->stages && launch->has_device
                            ? record_stages(launch, moment)
                            : record_at_once(launch, moment, &is_noted);
    if (!launch->graph)
        return;
    sc_guard_apply(SC_GUARD_OWN);
    sc_marks_issued(launch->stream, size_bytes, /*snapshotted=*/false, launch->ticks);
    if (!is_noted)
        SC_TRACKED(
            sc_graphs_note_launched(track.graphs, launch->graph->handle, launch->stream->id));
}

/* ---- of nodes among themselves ---- */

/* Called at a launch: reports pairs of nodes of the instantiated graph that use the same device
 * memory, at least one writing, and of which neither comes before the other by the graph's edges.
 * Each pair is reported once. */
void sc_launch_uses_report_races(const struct sc_launch_uses *launch)
{
    struct sc_graph_race race;
    while (SC_TRACKED(sc_graphs_next_race(track.graphs, launch->exec, &race)))
        sc_hazards_report_race(&race, SC_CULPRIT_OF(launch->call));
}
