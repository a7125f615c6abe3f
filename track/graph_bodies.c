/* Nodes in child graphs and in bodies (graphs in conditional nodes): inner nodes. An exec keeps all
 * that is inside of such a node under the handle of that outermost node. But a program changes
 * inner nodes one by one. So a use also names its own node (`inner`), and the exec knows which node
 * each inner node is directly inside of.
 *
 * If a node is given another child graph, programs go on to name its inner nodes by the first
 * child's nodes, and the new child does not tell these names. So all uses of the new child bear the
 * name of the node that has the child. A change of a node inside of that may concern any of these
 * uses. */

/* Terms (docs/glossary.md):
 *   body: a graph in a conditional node
 *   exec: an instantiated graph (CUgraphExec)
 *   inner node: a node in a child graph or a body
 */

#include "common/checks.h"
#include "track/graph_place.h"
#include "track/graphs_internal.h"
#include "track/stages.h"

#include "common/poison.h"

/* Forgets which nodes lie inside of others, as the exec's nodes are about to be listed anew. */
void sc_graph_forget_inner(struct sc_graph *graph)
{
    if (graph->exec.has_inner)
        sc_handles_destroy(&graph->exec.inner);
    graph->exec.has_inner = false;
}

/* Notes that the node `inner` lies directly inside of the node `around`, in a child graph or the
 * body of a conditional node. Without memory inner nodes are unknown, and a change of one of them
 * disables all uses (of memory by nodes) of such nodes. */
void sc_graphs_note_inner(struct sc_graphs *graphs, uintptr_t handle, uintptr_t inner,
                          uintptr_t around)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    uint32_t id = sc_graphs_make_exec(graphs, handle);
    struct sc_graph *graph = id ? sc_graphs_at(graphs, id) : NULL;
    if (graph && !graph->exec.has_inner)
        graph->exec.has_inner = sc_handles_init(&graph->exec.inner) == 0;
    if (graph && graph->exec.has_inner)
        sc_handles_put(&graph->exec.inner, inner, around);
}

/* The most nodes around an inner one. The limit ends a walk in a circle: an updated exec knows its
 * outermost nodes by names of a former graph, which may be gone, and inner nodes may have the same
 * names. */
enum { DEPTH_MAX = 16 };

/* Returns the node that this one is directly inside of; 0: it is in the exec's own graph, or
 * unknown. */
static uintptr_t node_around(struct sc_graph *graph, uintptr_t node)
{
    return graph->exec.has_inner ? (uintptr_t)sc_handles_get(&graph->exec.inner, node) : 0;
}

/* Returns the node of the exec's own graph inside of which this node lies, however deep: the exec
 * keeps the node's uses (of memory by nodes) under its name. 0: the node is in that graph itself,
 * or unknown. */
static uintptr_t outermost_around(struct sc_graph *graph, uintptr_t node)
{
    uintptr_t outer = node_around(graph, node);
    uintptr_t next = outer;
    for (int depth = 0; next && depth < DEPTH_MAX; depth++) {
        outer = next;
        next = node_around(graph, next);
    }
    return outer;
}

/* Is the node `of` itself, or somewhere inside of it? The walk outwards is bounded: handles of
 * destroyed nodes, which are given anew, might form a circle. */
bool sc_graph_is_within(struct sc_graph *graph, uintptr_t node, uintptr_t of)
{
    for (int depth = 0; node && node != of && depth < DEPTH_MAX; depth++)
        node = node_around(graph, node);
    return node && node == of;
}

/* Is it a node of the exec's own graph? Only those are in the list of names (handles in the graph
 * that the exec was made of). */
static bool is_named(const struct sc_graph *graph, uintptr_t node)
{
    for (uint32_t i = 0; i < graph->exec.names.count; i++)
        if (graph->exec.names.list[i] == node)
            return true;
    return false;
}

/* Tells where the node lies. One that is neither named as a node of the exec's own graph nor known
 * as an inner one came with a child graph of an update, under another name. */
static enum sc_graph_place find_place(struct sc_graph *graph, uintptr_t node)
{
    if (node_around(graph, node))
        return SC_PLACE_INNER;
    return !graph->exec.has_inner || is_named(graph, node) ? SC_PLACE_OUTERMOST : SC_PLACE_UNKNOWN;
}

/* Asked when the program changes a node: where does it lie, and under which node of the exec's own
 * graph (*outer) are its uses (of memory by nodes) kept? */
enum sc_graph_place sc_graphs_place_of(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                                       uintptr_t *outer)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    *outer = outermost_around(graph, node);
    return find_place(graph, node);
}

/* ---- their uses ---- */

/* Returns the node in a child graph or a body that has the use (of a piece of memory by a node); 0:
 * the use is of a node of the exec's own graph. */
static uintptr_t inner_node(struct sc_graphs *graphs, const struct sc_graph *graph, uint32_t use)
{
    return sc_graphs_extra(graphs, sc_graph_use_at(graph, use))->inner;
}

/* Returns the first use, from this one on, of the inner node (in a child graph or a body) or of a
 * node inside of it; 0: none. The walk follows the uses (of memory by nodes) of the outermost node,
 * under whose name all of them are kept. */
static uint32_t find_inner(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t use,
                           uintptr_t inner)
{
    while (use && !sc_graph_is_within(graph, inner_node(graphs, graph, use), inner))
        use = sc_graph_next_of(graph, use);
    return use;
}

/* Returns the first use of the inner node (in a child graph or a body), or of a node inside of it;
 * 0: none. `outer`: the outermost node around it. */
static uint32_t first_inner(struct sc_graphs *graphs, struct sc_graph *graph, uintptr_t outer,
                            uintptr_t inner)
{
    return find_inner(graphs, graph, sc_graph_first_of(graphs, graph, outer), inner);
}

/* Returns the next use of the inner node (in a child graph or a body), or of a node inside of it;
 * 0: none. */
static uint32_t next_inner(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t use,
                           uintptr_t inner)
{
    return find_inner(graphs, graph, sc_graph_next_of(graph, use), inner);
}

/* Disables a use (of a piece of memory by a node) that its node may no longer have: launches are
 * not judged by it, and frees still find it. Kernels' addresses stay: a change of a kernel drops
 * them (sc_graphs_drop_addresses). */
static void disable_use(struct sc_graph *graph, uint32_t use)
{
    struct sc_graph_use *lost = sc_graph_use_at(graph, use);
    if (!sc_graph_is_address(lost))
        sc_graph_enable_use(graph, lost, /*enabled*/ false);
}

/* The inner node has changed. Disables uses that may be its own without having its name: those of a
 * node around it that the program has given another child graph, whose nodes have no names here. */
static void disable_uses_around(struct sc_graphs *graphs, struct sc_graph *graph, uintptr_t outer,
                                uintptr_t inner)
{
    uint32_t use = sc_graph_first_of(graphs, graph, outer);
    for (; use; use = sc_graph_next_of(graph, use)) {
        uintptr_t of = inner_node(graphs, graph, use);
        if (of && of != inner && sc_graph_is_within(graph, inner, of))
            disable_use(graph, use);
    }
}

/* The program is about to change the inner node (in a child graph or a body): drops its uses (of
 * memory by nodes), and returns their flags for the new ones (sc_graphs_place_inner). Without uses
 * nothing says how it is ordered, so its new uses will not be judged. Races of the outermost node
 * may have been the inner one's, and are dropped. */
struct sc_graph_flags sc_graphs_drop_inner(struct sc_graphs *graphs, uintptr_t handle,
                                           uintptr_t outer, uintptr_t inner)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    uint32_t use = first_inner(graphs, graph, outer, inner);
    struct sc_graph_flags flags = {.unsure = SC_UNSURE_UNJUDGED | SC_UNSURE_UNJUDGED
                                                                      << SC_UNSURE_OF_DEVICE,
                                   .tells = sc_graph_notified_stage(graph, outer)};
    unsigned seen = 0;
    while (use) {
        uint32_t next = next_inner(graphs, graph, use, inner);
        sc_graph_add_flags(&flags, &seen, sc_graph_use_at(graph, use));
        sc_graphs_drop_use(graphs, graph, use);
        use = next;
    }
    disable_uses_around(graphs, graph, outer, inner);
    sc_graph_drop_inner_events(graph, outer, inner);
    sc_graph_drop_races(graph, outer);
    return flags;
}

/* The inner node (in a child graph or a body) has changed: gives its new uses (of memory by nodes)
 * the flags (order, stage) that its former ones had. Its place in the graph is still the same. */
void sc_graphs_place_inner(struct sc_graphs *graphs, uintptr_t handle, uintptr_t outer,
                           uintptr_t inner, const struct sc_graph_flags *flags)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    uint32_t use = first_inner(graphs, graph, outer, inner);
    for (; use; use = next_inner(graphs, graph, use, inner)) {
        struct sc_graph_use *placed = sc_graph_use_at(graph, use);
        placed->unsure = sc_graph_unsure_of(placed, flags->unsure) & SC_UNSURE_ALL;
        placed->stage = flags->stage & SC_STAGES_MAX;
    }
    if (flags->tells)
        sc_graphs_set_notifies(graphs, handle, outer, flags->tells);
    sc_graph_note_stale(graph);
}

/* One inner node (in a child graph or a body) was changed or disabled, and it is not known which:
 * disables the uses (of memory by nodes) of all, so that no launch is judged by a use that may be
 * gone. Frees still find them. */
static void disable_all_inner(struct sc_graphs *graphs, struct sc_graph *graph)
{
    for (uint32_t use = 1; use <= graph->uses.count; use++)
        if (inner_node(graphs, graph, use)) {
            disable_use(graph, use);
            sc_graph_drop_races(graph, sc_graph_use_at(graph, use)->node);
        }
}

/* disable_all_inner for the exec of this handle. */
void sc_graphs_disable_inner(struct sc_graphs *graphs, uintptr_t handle)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    disable_all_inner(graphs, sc_graphs_find_or_empty(graphs, handle));
}

/* The program enables or disables a node. If it is an inner one, its uses (of memory by nodes) are
 * under the name of the outermost node around it. If it cannot be told which node it is, a disabled
 * one may be any inner node (in a child graph or a body). Nodes of the exec's own graph are left to
 * the caller. */
void sc_graph_enable_inner(struct sc_graphs *graphs, struct sc_graph *graph, uintptr_t node,
                           bool enabled)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    uintptr_t outer = outermost_around(graph, node);
    if (!outer && !enabled && find_place(graph, node) == SC_PLACE_UNKNOWN)
        disable_all_inner(graphs, graph);
    if (!outer)
        return;
    uint32_t use = first_inner(graphs, graph, outer, node);
    for (; use; use = next_inner(graphs, graph, use, node))
        sc_graph_enable_use(graph, sc_graph_use_at(graph, use), enabled);
    disable_uses_around(graphs, graph, outer, node);
    sc_graph_drop_races(graph, outer);
}
