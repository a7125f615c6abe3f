/* The tracker's part for graphs and their launches. */
#include <string.h>

#include "track/conflicts.h"
#include "track/device.h"
#include "track/trace.h"
#include "track/track_internal.h"

#include "track/poison.h"

/* ---- what graphs name ---- */

/* Memory that goes when the use's bytes go. */
static struct sc_graph_bounds bounds_of(struct sc_track *track, const struct sc_graph_use *use)
{
    struct sc_graph_bounds bounds = {0};
    if (use->range) {
        const struct sc_grid_node *node = &sc_inflight_range(&track->inflight, use->range)->node;
        bounds.address = atomic_load_explicit(&node->address, memory_order_relaxed);
        bounds.size_bytes = atomic_load_explicit(&node->size_bytes, memory_order_relaxed);
    }
    return bounds;
}

void sc_track_graph_add(struct sc_track *track, uintptr_t handle, const struct sc_graph_use *use,
                        const struct sc_graph_extra *extra)
{
    lock(track);
    struct sc_graph_bounds bounds = bounds_of(track, use);
    sc_graphs_add(&track->graphs, handle, use, extra, &bounds);
    publish_watch(track);
    unlock(track);
}

void *sc_track_graph_take_copy(struct sc_track *track, size_t size_bytes, bool for_ever)
{
    lock(track);
    void *copy = sc_graphs_take_copy(&track->graphs, size_bytes, for_ever);
    unlock(track);
    return copy;
}

void sc_track_graph_add_all(struct sc_track *track, uintptr_t handle, uintptr_t of)
{
    lock(track);
    sc_graphs_add_all(&track->graphs, handle, of);
    unlock(track);
}

void sc_track_graph_drop_node(struct sc_track *track, uintptr_t handle, uintptr_t node)
{
    lock(track);
    sc_graphs_drop_node(&track->graphs, handle, node);
    publish_watch(track);
    unlock(track);
}

void sc_track_graph_enable_node(struct sc_track *track, uintptr_t handle, uintptr_t node,
                                bool enabled)
{
    lock(track);
    sc_graphs_enable_node(&track->graphs, handle, node, enabled);
    unlock(track);
}

void sc_track_graph_doubt_node(struct sc_track *track, uintptr_t handle, uintptr_t node,
                               unsigned unsure)
{
    lock(track);
    sc_graphs_doubt_node(&track->graphs, handle, node, unsure);
    unlock(track);
}

void sc_track_graph_doubt_nodes(struct sc_track *track, uintptr_t handle, struct sc_handles *nodes)
{
    lock(track);
    sc_graphs_doubt_nodes(&track->graphs, handle, nodes);
    unlock(track);
}

void sc_track_graph_redirect_node(struct sc_track *track, uintptr_t handle, uintptr_t node)
{
    lock(track);
    sc_graphs_redirect_node(&track->graphs, handle, node);
    unlock(track);
}

bool sc_track_graph_tell_of(struct sc_track *track, uintptr_t handle, uintptr_t node, unsigned step)
{
    lock(track);
    bool used = sc_graphs_tell_of(&track->graphs, handle, node, step);
    unlock(track);
    return used;
}

void sc_track_graph_let_tell(struct sc_track *track, uintptr_t handle, uintptr_t node,
                             unsigned step)
{
    lock(track);
    sc_graphs_let_tell(&track->graphs, handle, node, step);
    unlock(track);
}

struct sc_graph_flags sc_track_graph_flags(struct sc_track *track, uintptr_t handle, uintptr_t node)
{
    lock(track);
    struct sc_graph_flags flags = sc_graphs_flags(&track->graphs, handle, node);
    unlock(track);
    return flags;
}

uintptr_t sc_track_graph_of_node(struct sc_track *track, uintptr_t node)
{
    lock(track);
    uintptr_t handle = sc_graphs_of_node(&track->graphs, node);
    unlock(track);
    return handle;
}

bool sc_track_graph_drop_former(struct sc_track *track, const struct sc_graph_use *formers,
                                uint32_t count)
{
    lock(track);
    for (uint32_t i = 0; i < count; i++)
        sc_graphs_drop_former(&track->graphs, &formers[i]);
    publish_watch(track);
    bool holds = track->holds.oldest != 0;
    unlock(track);
    return holds;
}

void sc_track_graph_recognise(struct sc_track *track, uintptr_t handle, uintptr_t node,
                              struct sc_graph_use *use, struct sc_graph_extra *extra)
{
    lock(track);
    uintptr_t orphan = sc_graphs_orphan(node);
    bool is_orphan = sc_graphs_of_node(&track->graphs, node) == orphan;
    const struct sc_graph_use *known =
        sc_graphs_same_use(&track->graphs, is_orphan ? orphan : handle, use);
    if (known) {
        uintptr_t name = use->node;
        struct sc_shape shape = use->shape;
        uint32_t range = use->range;
        *extra = *sc_graphs_extra(&track->graphs, known);
        *use = *known;
        use->node = name;
        use->shape = shape;
        use->range = range;
    }
    unlock(track);
}

bool sc_track_graph_use(struct sc_track *track, uint32_t graph, uint32_t at,
                        struct sc_graph_use *use, struct sc_graph_extra *extra)
{
    lock(track);
    const struct sc_graph_uses *uses = &sc_graphs_at(&track->graphs, graph)->uses;
    bool there = at < uses->count;
    if (there) {
        *use = uses->list[at];
        *extra = *sc_graphs_extra(&track->graphs, use);
    }
    unlock(track);
    return there;
}

void *sc_track_graph_saved(struct sc_track *track, uintptr_t handle, uintptr_t node,
                           enum sc_direction direction)
{
    lock(track);
    void *saved = sc_graphs_saved(&track->graphs, handle, node, direction);
    unlock(track);
    return saved;
}

/* ---- execs, and the end of graphs ---- */

void sc_track_graph_begin_exec(struct sc_track *track, uintptr_t handle, uint32_t context)
{
    lock(track);
    sc_graphs_drop_node(&track->graphs, handle, 0);
    uint32_t id = sc_graphs_make_exec(&track->graphs, handle);
    if (id) {
        sc_heard_leave(&track->order, &sc_graphs_at(&track->graphs, id)->exec.heard);
        sc_graphs_at(&track->graphs, id)->exec.context = context;
        sc_graphs_at(&track->graphs, id)->exec.has_kernels = false;
    }
    publish_watch(track);
    unlock(track);
}

void sc_track_graph_end_exec(struct sc_track *track, uintptr_t handle, bool is_empty)
{
    lock(track);
    uint32_t id = sc_graphs_find(&track->graphs, handle);
    if (id)
        sc_graphs_at(&track->graphs, id)->exec.is_empty = is_empty;
    sc_graphs_make_runs(&track->graphs, handle);
    unlock(track);
}

void sc_track_graph_make_runs(struct sc_track *track, uintptr_t handle)
{
    lock(track);
    sc_graphs_make_runs(&track->graphs, handle);
    unlock(track);
}

void sc_track_graph_add_event(struct sc_track *track, uintptr_t handle,
                              const struct sc_graph_event *event)
{
    lock(track);
    sc_graphs_add_event(&track->graphs, handle, event);
    unlock(track);
}

void sc_track_graph_drop_addresses(struct sc_track *track, uintptr_t exec, uintptr_t node)
{
    lock(track);
    sc_graphs_drop_addresses(&track->graphs, exec, node);
    unlock(track);
}

void sc_track_graph_leave_out_device(struct sc_track *track, uintptr_t exec)
{
    lock(track);
    sc_graphs_leave_out_device(&track->graphs, exec);
    unlock(track);
}

struct sc_graph_author sc_track_graph_author(struct sc_track *track, uintptr_t graph,
                                             uintptr_t node, const struct sc_graph_use *use)
{
    lock(track);
    struct sc_graph_author found = sc_graphs_author(&track->graphs, graph, node, use);
    unlock(track);
    return found;
}

bool sc_track_graph_own(struct sc_track *track, uintptr_t exec, const struct sc_graph_own *own)
{
    lock(track);
    bool is_noted = sc_graphs_own(&track->graphs, exec, own);
    unlock(track);
    return is_noted;
}

void sc_track_graph_settle_own(struct sc_track *track, uintptr_t exec)
{
    lock(track);
    sc_graphs_settle_own(&track->graphs, exec);
    unlock(track);
}

static bool is_known_block(struct sc_track *track, const struct sc_graph_own *own)
{
    const struct sc_allocation block = sc_allocations_find(&track->allocations, own->address);
    return block.address == own->address && block.size_bytes == own->size_bytes;
}

void sc_track_graph_allocates(struct sc_track *track, uint32_t exec, uint32_t context,
                              uint32_t origin)
{
    lock(track);
    const struct sc_graph_device *device = &sc_graphs_at(&track->graphs, exec)->exec.device;
    for (uint32_t i = 0; i < device->own_count; i++) {
        const struct sc_graph_own *own = &device->own[i];
        if (own->freed_by)
            continue;
        sc_device_forget(&track->inflight, own->address, own->size_bytes);
        if (!is_known_block(track, own))
            sc_allocations_add(&track->allocations, own->address, own->size_bytes, context, origin);
    }
    unlock(track);
}

bool sc_track_graph_add_race(struct sc_track *track, uintptr_t exec,
                             const struct sc_graph_race *race)
{
    lock(track);
    bool added = sc_graphs_add_race(&track->graphs, exec, race);
    unlock(track);
    return added;
}

bool sc_track_graph_next_race(struct sc_track *track, uint32_t exec, struct sc_graph_race *into)
{
    lock(track);
    bool found = sc_graphs_next_race(&track->graphs, exec, into);
    unlock(track);
    return found;
}

void sc_track_graph_meets_host(struct sc_track *track, uintptr_t handle, bool signals, bool awaits)
{
    lock(track);
    uint32_t id = sc_graphs_make_exec(&track->graphs, handle);
    if (id) {
        sc_graphs_at(&track->graphs, id)->exec.signals |= signals;
        sc_graphs_at(&track->graphs, id)->exec.awaits_host |= awaits;
    }
    unlock(track);
}

void sc_track_graph_meets_kernel(struct sc_track *track, uintptr_t handle)
{
    lock(track);
    uint32_t id = sc_graphs_find(&track->graphs, handle);
    if (id)
        sc_graphs_at(&track->graphs, id)->exec.has_kernels = true;
    unlock(track);
}

void sc_track_graph_set_names(struct sc_track *track, uintptr_t handle, const uintptr_t *names,
                              uint32_t count)
{
    lock(track);
    sc_graphs_set_names(&track->graphs, handle, names, count);
    unlock(track);
}

bool sc_track_graph_names_of(struct sc_track *track, uintptr_t handle, uintptr_t *names,
                             uint32_t count)
{
    lock(track);
    uint32_t id = sc_graphs_find(&track->graphs, handle);
    const struct sc_graph *graph = id ? sc_graphs_at(&track->graphs, id) : NULL;
    bool known = graph && graph->exec.names.count == count;
    if (known)
        memcpy(names, graph->exec.names.list, count * sizeof *names);
    unlock(track);
    return known;
}

uint32_t sc_track_graph_detach(struct sc_track *track, uintptr_t handle)
{
    if (!sc_graphs_find(&track->graphs, handle))
        return 0;
    lock(track);
    uint32_t graph = sc_graphs_detach(&track->graphs, handle);
    unlock(track);
    return graph;
}

void sc_track_graph_attach(struct sc_track *track, uint32_t graph)
{
    lock(track);
    sc_graphs_attach(&track->graphs, graph);
    unlock(track);
}

bool sc_track_graph_remove(struct sc_track *track, uint32_t graph)
{
    lock(track);
    sc_graphs_remove(&track->graphs, graph);
    publish_watch(track);
    bool holds = track->holds.oldest != 0;
    unlock(track);
    return holds;
}

struct gone_execs {
    size_t count, room;
    uintptr_t *handles;
};

static void collect_exec(void *argument, uintptr_t handle)
{
    struct gone_execs *gone = argument;
    if (gone->count < gone->room)
        gone->handles[gone->count] = handle;
    gone->count++;
}

bool sc_track_graphs_context_gone(struct sc_track *track, uint32_t context)
{
    struct gone_execs gone = {0};
    lock(track);
    sc_graphs_each_exec(&track->graphs, context, collect_exec, &gone);
    gone.room = gone.count;
    gone.count = 0;
    gone.handles = gone.room ? sc_pages_map(gone.room * sizeof *gone.handles) : NULL;
    if (gone.handles)
        sc_graphs_each_exec(&track->graphs, context, collect_exec, &gone);
    for (size_t i = 0; i < gone.count; i++)
        sc_graphs_remove(&track->graphs, sc_graphs_detach(&track->graphs, gone.handles[i]));
    if (gone.handles)
        sc_pages_unmap(gone.handles, gone.room * sizeof *gone.handles);
    publish_watch(track);
    bool holds = track->holds.oldest != 0;
    unlock(track);
    return holds;
}

/* ---- frees ---- */

void sc_track_graph_note_freed(struct sc_track *track, uintptr_t address, size_t size_bytes,
                               const struct sc_hazard_event *by)
{
    lock(track);
    sc_graphs_note_freed(&track->graphs, address, size_bytes, by);
    unlock(track);
}

void sc_track_graph_note_registered(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    if (!sc_graphs_may_name(&track->graphs, address, size_bytes))
        return;
    lock(track);
    sc_graphs_note_registered(&track->graphs, address, size_bytes);
    unlock(track);
}

bool sc_track_graph_names(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    if (!sc_graphs_may_name(&track->graphs, address, size_bytes))
        return false;
    lock(track);
    bool names = sc_graphs_name(&track->graphs, address, size_bytes);
    unlock(track);
    return names;
}

/* ---- launches ---- */

static uintptr_t next_event(struct sc_track *track, uint32_t exec, bool waits, uint32_t *at)
{
    const struct sc_graph *graph = sc_graphs_at(&track->graphs, exec);
    while (*at < graph->exec.events.count) {
        const struct sc_graph_event *event = &graph->exec.events.list[(*at)++];
        if (event->waits == waits)
            return event->event;
    }
    return 0;
}

void sc_track_begin_launch(struct sc_track *track, uint32_t exec, uint32_t stream,
                           struct sc_order_call *call)
{
    SC_TRACE("launch exec stream", exec, stream);
    const struct sc_graph *graph = sc_graphs_at(&track->graphs, exec);
    const struct sc_point *last = &graph->exec.last_launch;
    bool elsewhere = last->stream && last->stream != stream;
    call->stream = 0;
    if (!elsewhere && graph->exec.events.count == 0 && !sc_order_is_behind(&track->order, stream))
        return;
    uintptr_t event;
    lock(track);
    sc_order_begin(&track->order, stream, call);
    if (elsewhere)
        sc_order_call_waits(&track->order, call, last);
    for (uint32_t at = 0; (event = next_event(track, exec, true, &at)) != 0;) {
        struct sc_point point;
        if (sc_events_point(&track->events, event, &point))
            sc_order_call_waits(&track->order, call, &point);
    }
    unlock(track);
}

uintptr_t sc_track_launch_record(struct sc_track *track, uint32_t exec, uint32_t *at)
{
    return next_event(track, exec, false, at);
}

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

/* The host may hear of their end, and nobody knows when. */
static void unjudge_told(struct sc_track *track, uint32_t exec, uint32_t stream)
{
    const struct sc_exec *known = &sc_graphs_at(&track->graphs, exec)->exec;
    for (uint32_t i = 0; i < known->host_runs && known->runs.list[i].told; i++) {
        uint32_t op = find_last_run(track, &known->runs.list[i], stream);
        if (!op)
            continue;
        sc_inflight_op(&track->inflight, op)->info.unsure |= SC_UNSURE_UNJUDGED;
        sc_inflight_unguard(&track->inflight, op);
    }
}

static struct sc_point point_of_steps(const struct sc_point *before, const struct sc_told *told,
                                      unsigned steps)
{
    struct sc_point point = sc_order_copy_point(before);
    uint64_t end = sc_told_end(told, steps);
    if (end)
        point.number = end;
    return point;
}

void sc_track_launch_records(struct sc_track *track, uint32_t exec, struct sc_point *point,
                             const struct sc_told *told)
{
    lock(track);
    const struct sc_graph_events *events = &sc_graphs_at(&track->graphs, exec)->exec.events;
    for (uint32_t i = 0; i < events->count; i++) {
        const struct sc_graph_event *event = &events->list[i];
        if (event->waits)
            continue;
        struct sc_point stands = point_of_steps(point, told, event->stands);
        sc_events_set(&track->events, &track->order, event->event, &stands);
    }
    if (told->broken)
        unjudge_told(track, exec, point->stream);
    sc_order_release(&track->order, point);
    unlock(track);
}

void sc_track_launched(struct sc_track *track, uintptr_t exec, uint32_t stream)
{
    lock(track);
    uint32_t id = sc_graphs_make_exec(&track->graphs, exec);
    if (id && !sc_graphs_at(&track->graphs, id)->exec.context)
        sc_graphs_at(&track->graphs, id)->exec.context =
            sc_order_stream(&track->order, stream)->context;
    if (id)
        sc_graphs_set_last_launch(&track->graphs, sc_graphs_at(&track->graphs, id), stream);
    unlock(track);
}

uint32_t sc_track_graph_signal_launch(struct sc_track *track, uintptr_t exec)
{
    uint32_t stream = 0;
    lock(track);
    uint32_t id = sc_graphs_find(&track->graphs, exec);
    if (id) {
        sc_order_signal(&track->order, &sc_graphs_at(&track->graphs, id)->exec.last_launch);
        stream = sc_graphs_at(&track->graphs, id)->exec.last_launch.stream;
    }
    unlock(track);
    return stream;
}

static bool note_conflict(void *found, uint32_t op)
{
    (void)op;
    *(bool *)found = true;
    return false;
}

static bool issue_run_again(struct sc_track *track, const struct sc_relaunch *launch,
                            const struct sc_graph_use *run)
{
    uint32_t id = find_last_run(track, run, launch->stream);
    bool conflict = false;
    if (!id)
        return false;
    struct sc_op_info *op = &sc_inflight_op(&track->inflight, id)->info;
    if (!op->by_graph || op->api != launch->api || op->unsure != run->unsure)
        return false;
    op->unseen_waits = launch->unseen_waits;
    sc_conflicts_visit(&track->inflight, op, note_conflict, &conflict);
    if (conflict || !sc_inflight_issue_again(&track->inflight, id, launch->guards))
        return false;
    if (!op->ticket.legacy)
        op->ticket.epoch = launch->place;
    op->stack = launch->stack;
    op->thread = launch->thread;
    op->ticks = launch->ticks;
    if (launch->told)
        sc_told_note(launch->told, run->told, op->ticket.number);
    return true;
}

void sc_track_launch_again(struct sc_track *track, struct sc_relaunch *launch)
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
