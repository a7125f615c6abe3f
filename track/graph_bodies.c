/* Nodes in bodies of conditional nodes. An exec knows all that is inside of a conditional node by
 * that node's name, which has one place among the others. But a program changes nodes of bodies one
 * by one. So a use knows its own node as well, and the exec which node that one is inside of.
 */
#include "track/graphs_internal.h"

#include "track/poison.h"

void sc_graph_forget_inner(struct sc_graph *graph)
{
    if (graph->exec.has_inner)
        sc_handles_destroy(&graph->exec.inner);
    graph->exec.has_inner = false;
}

void sc_graphs_note_inner(struct sc_graphs *graphs, uintptr_t handle, uintptr_t inner,
                          uintptr_t outer)
{
    uint32_t id = sc_graphs_make_exec(graphs, handle);
    struct sc_graph *graph = id ? sc_graphs_at(graphs, id) : NULL;
    if (graph && !graph->exec.has_inner)
        graph->exec.has_inner = sc_handles_init(&graph->exec.inner) == 0;
    if (graph && graph->exec.has_inner)
        sc_handles_put(&graph->exec.inner, inner, outer);
}

static uintptr_t outer_of(struct sc_graph *graph, uintptr_t node)
{
    return graph->exec.has_inner ? (uintptr_t)sc_handles_get(&graph->exec.inner, node) : 0;
}

static bool is_named(const struct sc_graph *graph, uintptr_t node)
{
    for (uint32_t i = 0; i < graph->exec.names.count; i++)
        if (graph->exec.names.list[i] == node)
            return true;
    return false;
}

enum sc_graph_place sc_graphs_place_of(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                                       uintptr_t *outer)
{
    struct sc_graph *graph = sc_graphs_known(graphs, handle);
    *outer = outer_of(graph, node);
    if (*outer)
        return SC_PLACE_INNER;
    return !graph->exec.has_inner || is_named(graph, node) ? SC_PLACE_OUTERMOST : SC_PLACE_UNKNOWN;
}

/* ---- their uses ---- */

/* The first use of the inner node from this one on, which is of the outer node; 0: there is none.
 */
static uint32_t find_inner(struct sc_graphs *graphs, const struct sc_graph *graph, uint32_t use,
                           uintptr_t inner)
{
    while (use && sc_graphs_extra(graphs, sc_graph_use_at(graph, use))->inner != inner)
        use = sc_graph_next_of(graph, use);
    return use;
}

static uint32_t first_inner(struct sc_graphs *graphs, struct sc_graph *graph, uintptr_t outer,
                            uintptr_t inner)
{
    return find_inner(graphs, graph, sc_graph_first_of(graphs, graph, outer), inner);
}

static uint32_t next_inner(struct sc_graphs *graphs, const struct sc_graph *graph, uint32_t use,
                           uintptr_t inner)
{
    return find_inner(graphs, graph, sc_graph_next_of(graph, use), inner);
}

struct sc_graph_flags sc_graphs_drop_inner(struct sc_graphs *graphs, uintptr_t handle,
                                           uintptr_t outer, uintptr_t inner)
{
    struct sc_graph *graph = sc_graphs_known(graphs, handle);
    uint32_t use = first_inner(graphs, graph, outer, inner);
    struct sc_graph_flags flags = {.unjudged = true};
    if (use)
        sc_graph_take_flags(&flags, sc_graph_use_at(graph, use));
    while (use) {
        uint32_t next = next_inner(graphs, graph, use, inner);
        sc_graphs_drop_use(graphs, graph, use);
        use = next;
    }
    sc_graph_device_drop(&graph->exec.device, outer);
    return flags;
}

void sc_graphs_place_inner(struct sc_graphs *graphs, uintptr_t handle, uintptr_t outer,
                           uintptr_t inner, const struct sc_graph_flags *flags)
{
    struct sc_graph *graph = sc_graphs_known(graphs, handle);
    uint32_t use = first_inner(graphs, graph, outer, inner);
    for (; use; use = next_inner(graphs, graph, use, inner)) {
        struct sc_graph_use *placed = sc_graph_use_at(graph, use);
        placed->unjudged = flags->unjudged;
        placed->possible = flags->possible;
        placed->told = flags->told & SC_TOLD_MAX;
    }
    sc_graph_note_stale(graph);
}

/* Which of the device memory inside of the outer node it uses is not known. */
void sc_graph_enable_inner(struct sc_graphs *graphs, struct sc_graph *graph, uintptr_t node,
                           bool enabled)
{
    uintptr_t outer = outer_of(graph, node);
    if (!outer)
        return;
    uint32_t use = first_inner(graphs, graph, outer, node);
    for (; use; use = next_inner(graphs, graph, use, node))
        sc_graph_enable_use(graph, sc_graph_use_at(graph, use), enabled);
    sc_graph_device_drop(&graph->exec.device, outer);
}

static void drop_device_of(void *graph, uintptr_t inner, uint64_t outer)
{
    (void)inner;
    sc_graph_device_drop(&((struct sc_graph *)graph)->exec.device, (uintptr_t)outer);
}

void sc_graphs_lose_inner(struct sc_graphs *graphs, uintptr_t handle)
{
    struct sc_graph *graph = sc_graphs_known(graphs, handle);
    for (uint32_t use = 1; use <= graph->uses.count; use++)
        if (sc_graphs_extra(graphs, sc_graph_use_at(graph, use))->inner)
            sc_graph_enable_use(graph, sc_graph_use_at(graph, use), false);
    if (graph->exec.has_inner)
        sc_handles_each(&graph->exec.inner, drop_device_of, graph);
}
