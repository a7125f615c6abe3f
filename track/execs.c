/* Execs: how they are made and launched, their uses, and their host nodes. */
#include <string.h>

#include "track/graph_frees.h"
#include "track/graphs_internal.h"
#include "track/order.h"
#include "track/watched_nodes.h"

#include "common/poison.h"

enum { GONE_AT_ONCE = 64 };

/* Drops all that was known of the exec: its uses, events and watched nodes. The exec gets the
 * context with which it ends. */
void sc_graphs_begin_exec(struct sc_graphs *graphs, uintptr_t handle, uint32_t context)
{
    sc_graphs_drop_node(graphs, handle, 0);
    uint32_t id = sc_graphs_make_exec(graphs, handle);
    if (!id)
        return;
    struct sc_exec *exec = &sc_graphs_at(graphs, id)->exec;
    sc_watched_nodes_abandon(graphs->order, &exec->watched);
    exec->context = context;
    exec->has_kernels = false;
}

void sc_graphs_end_exec(struct sc_graphs *graphs, uintptr_t handle, bool is_empty)
{
    uint32_t id = sc_graphs_find(graphs, handle);
    if (id)
        sc_graphs_at(graphs, id)->exec.is_empty = is_empty;
    sc_graphs_make_runs(graphs, handle);
}

/* Notes that a node of the exec may notify the host during a launch, or may wait for the host. */
void sc_graphs_note_host_contact(struct sc_graphs *graphs, uintptr_t handle, bool signals,
                                 bool awaits)
{
    uint32_t id = sc_graphs_make_exec(graphs, handle);
    if (!id)
        return;
    sc_graphs_at(graphs, id)->exec.signals |= signals;
    sc_graphs_at(graphs, id)->exec.awaits_host |= awaits;
}

void sc_graphs_note_kernel(struct sc_graphs *graphs, uintptr_t handle)
{
    uint32_t id = sc_graphs_find(graphs, handle);
    if (id)
        sc_graphs_at(graphs, id)->exec.has_kernels = true;
}

/* Copies the nodes' names of the exec, if their number equals that of the nodes that the driver
 * lists; otherwise they are not valid, and false is returned. */
bool sc_graphs_names_of(struct sc_graphs *graphs, uintptr_t handle, uintptr_t *names,
                        uint32_t count)
{
    const struct sc_graph_names *known = &sc_graphs_find_or_empty(graphs, handle)->exec.names;
    if (!known->list || known->count != count)
        return false;
    memcpy(names, known->list, count * sizeof *names);
    return true;
}

/* Removes the execs of a context that has ended. Some at a time, since the map must not change
 * during a walk. */
void sc_graphs_remove_of_context(struct sc_graphs *graphs, uint32_t context)
{
    uintptr_t gone[GONE_AT_ONCE];
    unsigned count;
    do {
        count = 0;
        SC_HANDLES_EACH (walk, &graphs->by_handle) {
            const struct sc_graph *graph = sc_graphs_at(graphs, (uint32_t)walk.value);
            if (graph->is_exec && graph->exec.context == context)
                gone[count++] = walk.handle;
            if (count == GONE_AT_ONCE)
                break;
        }
        for (unsigned i = 0; i < count; i++)
            sc_graphs_remove(graphs, sc_graphs_detach(graphs, gone[i]));
    } while (count == GONE_AT_ONCE);
}

/* ---- uses ---- */

/* Copies the use and its extra, since the list may move when uses are added. */
bool sc_graphs_get_use(struct sc_graphs *graphs, uint32_t graph, uint32_t at,
                       struct sc_graph_use *use, struct sc_graph_extra *extra)
{
    const struct sc_graph_uses *uses = &sc_graphs_at(graphs, graph)->uses;
    if (at >= uses->count)
        return false;
    *use = uses->list[at];
    *extra = *sc_graphs_extra(graphs, use);
    return true;
}

/* Copies the author and all else of the known use, but keeps the name, shape and range of `use`,
 * which the driver has just told. */
void sc_graphs_recognise(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                         struct sc_graph_use *use, struct sc_graph_extra *extra)
{
    uintptr_t orphan = sc_graphs_orphan(node);
    bool is_orphan = sc_graphs_find_of_node(graphs, node) == orphan;
    const struct sc_graph_use *known = sc_graphs_same_use(graphs, is_orphan ? orphan : handle, use);
    if (!known)
        return;
    uintptr_t name = use->node;
    struct sc_shape shape = use->shape;
    uint32_t range = use->range;
    *extra = *sc_graphs_extra(graphs, known);
    *use = *known;
    use->node = name;
    use->shape = shape;
    use->range = range;
}

/* ---- host nodes ---- */

struct sc_watched_node *sc_graphs_add_watched(struct sc_graphs *graphs, uintptr_t exec,
                                              uintptr_t node, void (*function)(void *), void *data)
{
    uint32_t id = sc_graphs_make_exec(graphs, exec);
    return id ? sc_watched_nodes_add(graphs->order, &sc_graphs_at(graphs, id)->exec.watched, node,
                                     function, data)
              : NULL;
}

bool sc_graphs_is_watched(struct sc_graphs *graphs, uintptr_t exec, uintptr_t node)
{
    return sc_watched_nodes_find(sc_graphs_find_or_empty(graphs, exec)->exec.watched, node);
}

/* Without the library's function the runs of the node are not seen, so runs and launches can no
 * longer be matched: the exec's watch is lost. */
void sc_graphs_end_watch(struct sc_graphs *graphs, uintptr_t exec, uintptr_t node)
{
    if (sc_graphs_is_watched(graphs, exec, node))
        sc_graphs_find_or_empty(graphs, exec)->exec.watched->is_lost = true;
}

struct sc_watched_launch *sc_graphs_begin_watched(struct sc_graphs *graphs, uint32_t exec,
                                                  const struct sc_point *before,
                                                  const struct sc_watched_call *call,
                                                  unsigned *given_up)
{
    return sc_watched_nodes_begin_launch(graphs->order, sc_graphs_at(graphs, exec)->exec.watched,
                                         before, call, given_up);
}

/* ---- launches ---- */

/* Walks over the events that nodes of the exec record, or wait for (`waits`). *at: the index from
 * which to go on, 0 at first. Returns 0 at the end. */
uintptr_t sc_graphs_next_event(struct sc_graphs *graphs, uint32_t exec, bool waits, uint32_t *at)
{
    const struct sc_graph_events *events = &sc_graphs_at(graphs, exec)->exec.events;
    while (*at < events->count) {
        const struct sc_graph_event *event = &events->list[(*at)++];
        if (event->waits == waits)
            return event->event;
    }
    return 0;
}

/* Notes that the exec was launched on the stream. An exec without a known context is from now on
 * dropped together with the stream's context. */
void sc_graphs_note_launched(struct sc_graphs *graphs, uintptr_t handle, uint32_t stream)
{
    uint32_t id = sc_graphs_make_exec(graphs, handle);
    if (!id)
        return;
    struct sc_graph *graph = sc_graphs_at(graphs, id);
    if (!graph->exec.context)
        graph->exec.context = sc_order_stream(graphs->order, stream)->context;
    sc_graphs_set_last_launch(graphs, graph, stream);
}

void sc_graphs_note_launch_signal(struct sc_graphs *graphs, uintptr_t handle)
{
    uint32_t id = sc_graphs_find(graphs, handle);
    if (id)
        sc_order_note_past_signal(graphs->order, &sc_graphs_at(graphs, id)->exec.last_launch);
}
