/* Execs: how they are made and launched, their uses, and their host nodes. */

/* Terms (docs/glossary.md):
 *   exec: an instantiated graph (CUgraphExec)
 */

#include <string.h>

#include "track/graph_frees.h"
#include "track/graphs_internal.h"
#include "track/order.h"
#include "track/watched_nodes.h"

#include "common/poison.h"

enum { GONE_AT_ONCE = 64 };

/* An exec (instantiated graph) was made or updated, and its nodes are about to be listed: drops all
 * that was known of it. Host nodes that the library watches may run still, so their records end by
 * themselves. `context`: the exec ends with it. */
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

/* All nodes of the exec (instantiated graph) are listed: makes what its launches record. An exec
 * that does nothing counts as no work. */
void sc_graphs_end_exec(struct sc_graphs *graphs, uintptr_t handle, bool is_empty)
{
    uint32_t id = sc_graphs_find(graphs, handle);
    if (id)
        sc_graphs_at(graphs, id)->exec.is_empty = is_empty;
    sc_graphs_make_runs(graphs, handle);
}

/* A node of the exec (instantiated graph) may tell the host how far the launch has come, or may
 * wait for the host, unseen by the library. Launches of the exec then make the order of other work
 * less certain. */
void sc_graphs_note_host_contact(struct sc_graphs *graphs, uintptr_t handle, bool signals,
                                 bool awaits)
{
    uint32_t id = sc_graphs_make_exec(graphs, handle);
    if (!id)
        return;
    sc_graphs_at(graphs, id)->exec.signals |= signals;
    sc_graphs_at(graphs, id)->exec.awaits_host |= awaits;
}

/* A node of the exec (instantiated graph) is a kernel: launches may write memory that no node
 * names. */
void sc_graphs_note_kernel(struct sc_graphs *graphs, uintptr_t handle)
{
    uint32_t id = sc_graphs_find(graphs, handle);
    if (id)
        sc_graphs_at(graphs, id)->exec.has_kernels = true;
}

/* Stores the names of the exec's nodes (their handles in the graph that it was first made of), in
 * the driver's order. If there are not as many as the driver lists, they cannot be matched with the
 * driver's nodes, and false is returned. */
bool sc_graphs_names_of(struct sc_graphs *graphs, uintptr_t handle, uintptr_t *names,
                        uint32_t count)
{
    const struct sc_graph_names *known = &sc_graphs_find_or_empty(graphs, handle)->exec.names;
    if (!known->list || known->count != count)
        return false;
    memcpy(names, known->list, count * sizeof *names);
    return true;
}

/* A context has ended, and its execs (instantiated graphs) with it: removes them. A few at a time,
 * since the map must not change during the walk over it. */
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

/* Copies the use (of a piece of memory by a node) and what only few uses have, since both may move
 * when uses are added. False ends the caller's loop. */
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

/* Completes a use (of a piece of memory by a node) that the driver has just described by what is
 * known of the same use: the call that made it, and whether its memory was freed. If the program
 * has changed the node itself, that is kept under the node as an orphan (a node whose graph is
 * unknown). Name and shape stay as the driver says, and so does the range (host memory known to the
 * driver), unless the memory was pageable when the node was added: it is used as that for good. */
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
    uint32_t range = known->range ? use->range : 0;
    *extra = *sc_graphs_extra(graphs, known);
    *use = *known;
    use->node = name;
    use->shape = shape;
    use->range = range;
}

/* ---- host nodes ---- */

/* Makes a record for a host node, which the library's function gets as its data, so that the
 * library sees each run of the program's function. NULL: no memory. */
struct sc_watched_node *sc_graphs_add_watched(struct sc_graphs *graphs, uintptr_t exec,
                                              uintptr_t node, void (*function)(void *), void *data)
{
    uint32_t id = sc_graphs_make_exec(graphs, exec);
    return id ? sc_watched_nodes_add(graphs->order, &sc_graphs_at(graphs, id)->exec.watched, node,
                                     function, data)
              : NULL;
}

/* Does the library see the runs of this host node, since the driver calls its function first? */
bool sc_graphs_is_watched(struct sc_graphs *graphs, uintptr_t exec, uintptr_t node)
{
    return sc_watched_nodes_find(sc_graphs_find_or_empty(graphs, exec)->exec.watched, node);
}

/* The program has given a watched host node another function, past the library's: its runs are no
 * longer seen, and can no longer be matched with launches. So nothing is concluded from the exec's
 * host nodes any more. */
void sc_graphs_end_watch(struct sc_graphs *graphs, uintptr_t exec, uintptr_t node)
{
    if (sc_graphs_is_watched(graphs, exec, node))
        sc_graphs_find_or_empty(graphs, exec)->exec.watched->is_lost = true;
}

/* A launch of the exec (instantiated graph) begins: its host nodes' runs will be matched with it.
 */
struct sc_watched_launch *sc_graphs_begin_watched(struct sc_graphs *graphs, uint32_t exec,
                                                  const struct sc_point *before,
                                                  const struct sc_watched_call *call,
                                                  unsigned *given_up)
{
    return sc_watched_nodes_begin_launch(graphs->order, sc_graphs_at(graphs, exec)->exec.watched,
                                         before, call, given_up);
}

/* ---- launches ---- */

/* Walks over the events that nodes of the exec (instantiated graph) record, or wait for (`waits`):
 * a launch notes each. *at: the index from which to go on, 0 at first. Returns 0 at the end. */
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

/* The driver has accepted a launch on the stream. Of an exec (instantiated graph) that was made
 * unseen the context is not known: it then counts as the stream's, so that some context's end
 * ends the exec's record, too. */
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

/* The exec (instantiated graph) is destroyed or updated, and may release a user object, whose
 * destructor tells the host, unseen by the library, that the last launch is done. */
void sc_graphs_note_launch_signal(struct sc_graphs *graphs, uintptr_t handle)
{
    uint32_t id = sc_graphs_find(graphs, handle);
    if (id)
        sc_order_note_past_signal(graphs->order, &sc_graphs_at(graphs, id)->exec.last_launch);
}
