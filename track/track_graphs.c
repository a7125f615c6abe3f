/* The tracker's functions for graphs and their launches. */
#include "track/track_graphs.h"
#include "common/trace.h"
#include "track/allocations.h"
#include "track/conflicts_internal.h"
#include "track/device.h"
#include "track/events.h"
#include "track/graph_frees.h"
#include "track/order_calls.h"
#include "track/stages.h"
#include "track/track_internal.h"

#include "common/poison.h"

/* ---- what graphs name ---- */

/* Returns the allocation with which the bytes of the use are freed: the range (host memory known to
 * the driver) in which they lie. Of size 0: not known. */
static struct sc_graph_bounds range_bounds(struct sc_track *track, const struct sc_graph_use *use)
{
    struct sc_graph_bounds bounds = {0};
    if (use->range) {
        const struct sc_grid_node *node = &sc_inflight_range(&track->inflight, use->range)->node;
        bounds.address = atomic_load_explicit(&node->address, memory_order_relaxed);
        bounds.size_bytes = atomic_load_explicit(&node->size_bytes, memory_order_relaxed);
    }
    return bounds;
}

/* A node of a graph uses memory: notes that, with the allocation by whose free the graph is found.
 */
void sc_track_graph_add(struct sc_track *track, uintptr_t handle, const struct sc_graph_use *use,
                        const struct sc_graph_extra *extra)
{
    lock(track);
    struct sc_graph_bounds bounds = range_bounds(track, use);
    sc_graphs_add(&track->graphs, handle, use, extra, &bounds);
    publish_watch(track);
    unlock(track);
}

/* A launch allocates the memory of its nodes: what was in flight at the addresses is over. A block
 * that is known with the same size stays, with the call that made it. Nodes that free memory are
 * left out. */
void sc_track_note_graph_allocations(struct sc_track *track, uint32_t exec, uint32_t context,
                                     uint32_t origin)
{
    lock(track);
    const struct sc_graph_device *device = &sc_graphs_at(&track->graphs, exec)->exec.device;
    for (uint32_t i = 0; i < device->own_count; i++) {
        const struct sc_graph_own *own = &device->own[i];
        if (own->freed_by)
            continue;
        sc_device_forget(&track->inflight, own->address, own->size_bytes);
        if (sc_allocations_block_bytes(&track->allocations, own->address) != own->size_bytes)
            sc_allocations_add(&track->allocations, own->address, own->size_bytes, context, origin);
    }
    unlock(track);
}

/* ---- frees ---- */

/* Would a launch of any graph use the memory? Most memory is in no graph, which is told without the
 * lock. */
bool sc_track_graph_names(struct sc_track *track, uintptr_t address, size_t size_bytes,
                          bool unregistered)
{
    if (!sc_graphs_may_name(&track->graphs, address, size_bytes))
        return false;
    lock(track);
    bool names = sc_graphs_name_memory(&track->graphs, address, size_bytes, unregistered);
    unlock(track);
    return names;
}

/* ---- launches ---- */

/* A launch begins, as a call that also comes after the exec's last launch, as the driver runs
 * launches of an exec (instantiated graph) one after the other, and after events for which its
 * nodes wait. If there is nothing of that, the call is left as not begun (stream 0). */
void sc_track_begin_launch(struct sc_track *track, uint32_t exec, uint32_t stream,
                           struct sc_order_call *call)
{
    SC_TRACE("launch exec stream", exec, stream);
    const struct sc_graph *graph = sc_graphs_at(&track->graphs, exec);
    const struct sc_point *last = &graph->exec.last_launch;
    bool elsewhere = last->stream && last->stream != stream;
    call->stream = 0;
    if (!elsewhere && graph->exec.events.count == 0 &&
        !sc_order_must_begin_call(&track->order, stream))
        return;
    uintptr_t event;
    lock(track);
    sc_order_begin_call(&track->order, stream, call);
    if (elsewhere)
        sc_order_call_waits(&track->order, call, last);
    for (uint32_t at = 0; (event = sc_graphs_next_event(&track->graphs, exec, true, &at)) != 0;) {
        struct sc_point point;
        if (sc_events_point(&track->events, event, &point))
            sc_order_call_waits(&track->order, call, &point);
    }
    unlock(track);
}

/* Returns the operation that the exec's last launch has recorded for this run (adjoining uses of
 * its nodes), if it is still in flight on the stream; else 0. Not if the memory was freed: then the
 * launch is judged anew. */
static uint32_t find_last_run(struct sc_track *track, const struct sc_graph_use *run,
                              uint32_t stream)
{
    struct sc_op_info key;
    key.shape = run->shape;
    key.fold = sc_graphs_extra(&track->graphs, run)->fold;
    key.ticket.stream = stream;
    key.direction = run->direction;
    key.kind = run->kind;
    key.range = run->range;
    return run->freed ? 0 : sc_inflight_find_equal(&track->inflight, &key);
}

/* Other threads' work got numbers among those of the launch, so it is not known which of its
 * operations the nodes tell the host of. The host may learn of their end at any time, so they are
 * not judged, and unprotected. */
static void unjudge_notified_ops(struct sc_track *track, uint32_t exec, uint32_t stream)
{
    const struct sc_exec *known = &sc_graphs_at(&track->graphs, exec)->exec;
    for (uint32_t i = 0; i < known->host_runs && known->runs.list[i].stage; i++) {
        uint32_t op = find_last_run(track, &known->runs.list[i], stream);
        if (!op)
            continue;
        sc_inflight_op(&track->inflight, op)->info.unsure |= SC_UNSURE_UNJUDGED;
        sc_inflight_unguard(&track->inflight, op);
    }
}

/* Returns what the host knows when a node has told it that all work up to this stage (the work of
 * whose end one node tells the host) is done. `before`: the point before the launch, if no
 * operation is of these stages. */
static struct sc_point point_of_stage(const struct sc_point *before, const struct sc_stages *stages,
                                      unsigned stage)
{
    struct sc_point point = sc_order_copy_point(before);
    uint64_t end = sc_stages_end(stages, stage);
    if (end)
        point.number = end;
    return point;
}

/* The launch is recorded: sets what the events stand for that its nodes record: the stages (work of
 * whose end such a node tells the host) that all nodes with this event tell of. If other threads'
 * work has numbers in between (`broken`), no stage is told from another, and the operations are not
 * judged. */
void sc_track_note_launch_records(struct sc_track *track, uint32_t exec, struct sc_point *point,
                                  const struct sc_stages *stages)
{
    lock(track);
    const struct sc_graph_events *events = &sc_graphs_at(&track->graphs, exec)->exec.events;
    for (uint32_t i = 0; i < events->count; i++) {
        const struct sc_graph_event *event = &events->list[i];
        if (event->waits)
            continue;
        struct sc_point stands = point_of_stage(point, stages, event->stands);
        sc_events_set(&track->events, &track->order, event->event, &stands);
    }
    if (stages->broken)
        unjudge_notified_ops(track, exec, point->stream);
    sc_order_release_point(&track->order, point);
    unlock(track);
}

/* Issues the operation of the last launch again, with a new ticket (stream and number). Returns
 * false if something about it has to be looked at: it is gone, was made by another call, is ordered
 * less or more surely, conflicts with other work, or its pages or source have changed. */
static bool issue_run_again(struct sc_track *track, const struct sc_relaunch *launch,
                            const struct sc_graph_use *run)
{
    uint32_t id = find_last_run(track, run, launch->stream);
    if (!id)
        return false;
    struct sc_op_info *op = &sc_inflight_op(&track->inflight, id)->info;
    if (!op->by_graph || op->api != launch->api || op->unsure != run->unsure)
        return false;
    op->unseen_waits = launch->unseen_waits;
    if (sc_conflicts_any(&track->inflight, op) ||
        !sc_inflight_renew_op(&track->inflight, id, launch->guards))
        return false;
    if (!op->ticket.legacy)
        op->ticket.epoch = launch->place;
    op->stack = launch->stack;
    op->thread = launch->thread;
    op->ticks = launch->ticks;
    if (launch->stages)
        sc_stages_note(launch->stages, run->stage, op->ticket.number);
    return true;
}

/* The short way to record a launch of an exec (instantiated graph) on the stream of its last one:
 * its operations get new tickets (stream and number), in order. Stops at the first for which that
 * does not do; the caller issues the rest. Only if there is no rest is the launch noted here. */
void sc_track_relaunch(struct sc_track *track, struct sc_relaunch *launch)
{
    lock(track);
    struct sc_graph *graph = sc_graphs_at(&track->graphs, launch->exec);
    const struct sc_graph_uses *runs = &graph->exec.runs;
    while (launch->done < graph->exec.host_runs &&
           issue_run_again(track, launch, &runs->list[launch->done])) {
        const struct sc_graph_use *run = &runs->list[launch->done++];
        launch->size_bytes +=
            sc_shape_used_bytes(&run->shape, &sc_graphs_extra(&track->graphs, run)->fold);
    }
    atomic_store_explicit(&track->operations,
                          atomic_load_explicit(&track->operations, memory_order_relaxed) +
                              launch->done,
                          memory_order_relaxed);
    if (launch->done == graph->exec.host_runs)
        sc_graphs_set_last_launch(&track->graphs, graph, launch->stream);
    unlock(track);
}
