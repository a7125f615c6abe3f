/* What is kept for single nodes besides the memory that they use: whether they are enabled and
 * judged, what they tell, the events that they record and wait for, and their names. */

/* Terms (docs/glossary.md):
 *   body: a graph in a conditional node
 *   exec: an instantiated graph (CUgraphExec)
 *   inner node: a node in a child graph or a body
 *   stage: the part of a graph's nodes that one notifier tells the host of
 */

#include <string.h>

#include "common/checks.h"
#include "track/graphs_internal.h"
#include "track/order.h"
#include "track/stages.h"
#include "track/watched_nodes.h"

#include "common/poison.h"

enum { EVENTS_MIN = 4 };

/* ---- enabled, judged, told ---- */

/* The program enables or disables a node of the exec; launches leave out a disabled one. The set of
 * disabled nodes is kept as well, since the exec may get uses of the node later. An exec of which
 * nothing is known has the common empty record (handle 0), which is not changed. == track/execs.c
 * fn sc_graphs_note_launch_signal The exec is destroyed or changed, and may release a user object,
 * whose destructor tells the host, unseen by the library, that the last launch is done. ==
 * track/graph_writes.c fn sc_graph_writes_find Returns what launches of the graph or exec write;
 * NULL: not known, so they may write anything. */
void sc_graphs_enable_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node, bool enabled)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    uint32_t use = sc_graph_first_of(graphs, graph, node);
    for (; use; use = sc_graph_next_of(graph, use))
        sc_graph_enable_use(graph, sc_graph_use_at(graph, use), enabled);
    if (!graph->handle)
        return;
    sc_graph_enable_inner(graphs, graph, node, enabled);
    if (!enabled && !graph->exec.disables)
        graph->exec.disables = sc_handles_init(&graph->exec.disabled) == 0;
    if (graph->exec.disables && !enabled)
        sc_handles_put(&graph->exec.disabled, node, true);
    else if (graph->exec.disables)
        sc_handles_remove(&graph->exec.disabled, node);
    sc_graph_note_stale(graph);
}

/* Adds reasons why the order of the use (of a piece of memory by a node) is not certain. `unsure`
 * has those for host memory and for device memory; the ones for the use's memory are added. */
static void set_unsure(struct sc_graph_use *use, unsigned unsure)
{
    use->unsure |= sc_graph_unsure_of(use, unsure) & SC_UNSURE_ALL;
}

/* Adds reasons why the order of the node's uses (of memory by nodes) is not certain: the node
 * stands before or behind one that may wait for the host or tell it something, unseen by the
 * library. */
void sc_graphs_add_unsure(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                          unsigned unsure)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    uint32_t use = sc_graph_first_of(graphs, graph, node);
    for (; use; use = sc_graph_next_of(graph, use))
        set_unsure(sc_graph_use_at(graph, use), unsure);
    sc_graph_note_stale(graph);
}

/* sc_graphs_add_unsure for many nodes at once: goes through the graph's uses (of memory by nodes)
 * once, however many nodes there are. */
void sc_graphs_add_unsure_of_nodes(struct sc_graphs *graphs, uintptr_t handle,
                                   struct sc_handles *nodes)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    for (uint32_t i = 0; i < graph->uses.count; i++)
        set_unsure(&graph->uses.list[i], (unsigned)sc_handles_get(nodes, graph->uses.list[i].node));
    sc_graph_note_stale(graph);
}

/* Puts the node's uses (of memory by nodes) into a stage: the nodes whose end one notifying node
 * tells the host of. A kernel's addresses are no certain uses, and have no stage. Returns false if
 * the node has no use to put there. */
bool sc_graphs_set_stage(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node, unsigned stage)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    bool used = false;
    for (uint32_t id = sc_graph_first_of(graphs, graph, node); id;
         id = sc_graph_next_of(graph, id)) {
        struct sc_graph_use *use = sc_graph_use_at(graph, id);
        if (sc_graph_is_address(use))
            continue;
        use->stage = stage & SC_STAGES_MAX;
        used = true;
    }
    sc_graph_note_stale(graph);
    return used;
}

/* The node tells the host, in a way that the library sees, that all nodes up to this stage are
 * done: by an event that it records, or as a host node whose runs the library sees. */
void sc_graphs_set_notifies(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                            unsigned stage)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    for (uint32_t i = 0; i < graph->exec.events.count; i++)
        if (graph->exec.events.list[i].node == node)
            graph->exec.events.list[i].tells = (uint8_t)stage;
    struct sc_watched_node *watched = sc_watched_nodes_find(graph->exec.watched, node);
    if (watched)
        watched->tells = (uint8_t)stage;
    sc_graph_note_stale(graph);
}

/* Returns the stage up to which the node tells the host that work is done; 0: none. It is kept with
 * the events that the node records, or with the record of a watched host node. */
uint8_t sc_graph_notified_stage(const struct sc_graph *graph, uintptr_t node)
{
    const struct sc_watched_node *watched = sc_watched_nodes_find(graph->exec.watched, node);
    uint8_t stage = watched ? watched->tells : 0;
    for (uint32_t i = 0; i < graph->exec.events.count; i++)
        if (graph->exec.events.list[i].node == node)
            stage = graph->exec.events.list[i].tells;
    return stage;
}

/* Copies what the use (of a piece of memory by a node) says of its node into the flags. All uses of
 * a node in one kind of memory agree, so the first of host memory and the first of device memory
 * count (a bit of `seen` for each). Kernels' addresses have no flags. */
void sc_graph_add_flags(struct sc_graph_flags *flags, unsigned *seen,
                        const struct sc_graph_use *use)
{
    if (sc_graph_is_address(use))
        return;
    unsigned shift = sc_graph_is_of_device(use) ? SC_UNSURE_OF_DEVICE : 0;
    if (*seen >> shift & 1)
        return;
    *seen |= 1u << shift;
    flags->disabled = use->disabled;
    flags->unsure = (uint16_t)((flags->unsure & ~(SC_UNSURE_ALL << shift)) | use->unsure << shift);
    flags->stage = use->stage;
}

/* The program gives the node new parameters: returns what stays the same of its uses (of memory by
 * nodes). SC_UNSURE_LEFT_OUT is not among it: that comes from the body around a node, and is found
 * anew. */
struct sc_graph_flags sc_graphs_get_flags(struct sc_graphs *graphs, uintptr_t handle,
                                          uintptr_t node)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    uint32_t first = sc_graph_first_of(graphs, graph, node);
    struct sc_graph_flags flags = {.tells = sc_graph_notified_stage(graph, node)};
    unsigned seen = 0;
    for (uint32_t use = first; use; use = sc_graph_next_of(graph, use))
        sc_graph_add_flags(&flags, &seen, sc_graph_use_at(graph, use));
    if (first) /* the first use may be an inner node's, which has flags of its own */
        flags.disabled = sc_graph_is_disabled(graph, node);
    flags.unsure &= (uint16_t) ~(SC_UNSURE_LEFT_OUT | SC_UNSURE_LEFT_OUT << SC_UNSURE_OF_DEVICE);
    return flags;
}

/* Returns the library's copy that the node reads, or writes, instead of a stack; NULL: none. The
 * program gives the node new parameters, and the copy goes on to stand for the stack. */
void *sc_graphs_find_saved(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                           enum sc_direction direction)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    uint32_t use = sc_graph_first_of(graphs, graph, node);
    void *saved = NULL;
    for (; use && !saved; use = sc_graph_next_of(graph, use))
        if (sc_graph_use_at(graph, use)->direction == direction)
            saved = sc_graphs_extra(graphs, sc_graph_use_at(graph, use))->saved;
    return saved;
}

/* The driver has been told that the node uses the library's copies of memory on a stack: its uses
 * (of memory by nodes) of such memory no longer touch the stack. */
void sc_graphs_redirect_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    uint32_t use = sc_graph_first_of(graphs, graph, node);
    for (; use; use = sc_graph_next_of(graph, use))
        if (sc_graphs_extra(graphs, sc_graph_use_at(graph, use))->saved)
            sc_graph_use_at(graph, use)->redirected = true;
}

/* ---- events ---- */

/* Is it an event that the node records or waits for? With `inner`, only if that comes from the node
 * `inner` within it. */
static bool is_event_of(struct sc_graph *graph, const struct sc_graph_event *event, uintptr_t node,
                        uintptr_t inner)
{
    return event->node == node && (!inner || sc_graph_is_within(graph, event->inner, inner));
}

/* Drops the events that the node records or waits for (with `inner` only those of nodes within that
 * one; with node 0 all), and finds out anew whether any node records or waits at all. */
void sc_graph_drop_inner_events(struct sc_graph *graph, uintptr_t node, uintptr_t inner)
{
    struct sc_graph_events *events = &graph->exec.events;
    uint32_t kept = 0;
    events->records = events->waits = false;
    for (uint32_t i = 0; i < events->count; i++) {
        if (!node || is_event_of(graph, &events->list[i], node, inner))
            continue;
        events->list[kept++] = events->list[i];
        events->records |= !events->list[i].waits;
        events->waits |= events->list[i].waits;
    }
    events->count = kept;
}

/* The node is changed or removed: drops its events and races. With node 0 the exec is about to be
 * described anew, so what belongs to no single node goes as well. */
void sc_graph_drop_events(struct sc_graph *graph, uintptr_t node)
{
    sc_graph_drop_inner_events(graph, node, 0);
    sc_graph_drop_races(graph, node);
    if (node)
        return;
    sc_graph_forget_inner(graph);
    graph->exec.device.own_count = 0;
    graph->exec.device.is_left_out = graph->exec.signals = graph->exec.awaits_host = false;
}

/* Makes room for one more event. Returns false if there is no memory. */
static bool make_room_for_event(struct sc_graphs *graphs, struct sc_graph *graph)
{
    struct sc_graph_events *events = &graph->exec.events;
    if (events->count < events->capacity)
        return true;
    struct sc_graph_event *larger = sc_arena_grow(
        &graphs->order->arena, events->list, &events->capacity, sizeof *events->list, EVENTS_MIN);
    if (larger)
        events->list = larger;
    return larger != NULL;
}

/* Notes an event that a node of the exec records or waits for: a launch gives it its point (work
 * issued so far), or waits for it. Without memory the event is not known, and orders nothing. */
void sc_graphs_add_event(struct sc_graphs *graphs, uintptr_t handle,
                         const struct sc_graph_event *event)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    uint32_t id = sc_graphs_make_exec(graphs, handle);
    struct sc_graph *graph = id ? sc_graphs_at(graphs, id) : NULL;
    if (!graph || !make_room_for_event(graphs, graph))
        return;
    graph->exec.events.list[graph->exec.events.count++] = *event;
    graph->exec.events.records |= !event->waits;
    graph->exec.events.waits |= event->waits;
    sc_graph_note_stale(graph);
}

/* ---- names ---- */

/* Frees the names of the exec's nodes (their handles in the graph that it was made of). */
static void free_names(struct sc_graphs *graphs, struct sc_graph *graph)
{
    sc_arena_free(&graphs->order->arena, graph->exec.names.list,
                  graph->exec.names.count * sizeof *graph->exec.names.list);
    graph->exec.names.list = NULL;
    graph->exec.names.count = 0;
}

/* Replaces the names of the exec's nodes (their handles in the graph that it was made of), by which
 * the program names them in calls. Without memory there are none, and the exec's nodes are not
 * recognised. */
void sc_graphs_set_names(struct sc_graphs *graphs, uintptr_t handle, const uintptr_t *names,
                         uint32_t count)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    uint32_t id = sc_graphs_find(graphs, handle);
    struct sc_graph *graph = id ? sc_graphs_at(graphs, id) : NULL;
    if (!graph || !count)
        return;
    free_names(graphs, graph);
    graph->exec.names.list = sc_arena_alloc(&graphs->order->arena, count * sizeof *names);
    if (!graph->exec.names.list)
        return;
    memcpy(graph->exec.names.list, names, count * sizeof *names);
    graph->exec.names.count = count;
}

/* ---- the end ---- */

/* The graph ends: frees what is known of single nodes except their uses. */
void sc_graph_free_nodes(struct sc_graphs *graphs, struct sc_graph *graph)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    free_names(graphs, graph);
    sc_arena_free(&graphs->order->arena, graph->exec.events.list,
                  graph->exec.events.capacity * sizeof *graph->exec.events.list);
    graph->exec.events.list = NULL;
    graph->exec.events.count = graph->exec.events.capacity = 0;
    sc_graph_free_device(graphs, graph);
    if (graph->exec.disables)
        sc_handles_destroy(&graph->exec.disabled);
    graph->exec.disables = false;
    sc_graph_forget_inner(graph);
}
