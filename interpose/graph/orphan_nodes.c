#include "interpose/graph/orphan_nodes.h"

#include "common/shape.h"
#include "interpose/base/process.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"
#include "interpose/graph/copy_sides.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/graph/node_uses.h"
#include "interpose/graph/node_walk.h"
#include "interpose/reaper/reaper.h"
#include "track/graph_frees.h"
#include "track/track.h"

#include "common/poison.h"

/* Stores one side of what the node did before it changes. */
static void add_former(void *context, enum sc_direction direction, const struct sc_copy_side *side)
{
    struct sc_former *former = context;
    if (side->used && sc_shape_hull_bytes(&side->shape))
        former->uses[former->count++] =
            (struct sc_graph_use){.shape = side->shape, .direction = direction};
}

/* Asks the tracker, or else the driver, what the node did. */
struct sc_former sc_orphan_nodes_describe(CUgraphNode node)
{
    CUgraphNodeType type;
    struct sc_former former = {0};
    if (!sc_active())
        return former;
    former.graph = SC_TRACKED(sc_graphs_find_of_node(track.graphs, (uintptr_t)node));
    if (!former.graph && !sc_replaying_is_on() && /* in a replay the node is changed already */
        sc_driver_nodes_can_be_asked() && sc_real.cuGraphNodeGetType(node, &type) == CUDA_SUCCESS)
        sc_node_uses_ask_driver(node, type, add_former, &former);
    return former;
}

/* Drops what the node did, which is destroyed. */
void sc_orphan_nodes_destroyed(CUgraphNode node, const struct sc_former *former)
{
    if (former->graph && former->graph != sc_graphs_orphan((uintptr_t)node))
        SC_TRACKED(sc_graphs_drop_node(track.graphs, former->graph, (uintptr_t)node));
    else if (former->count) {
        /* The uses of unnamed nodes that are alike are dropped. */
        for (uint32_t i = 0; i < former->count; i++)
            SC_TRACKED(sc_graphs_drop_former(track.graphs, &former->uses[i]));
        sc_reaper_graph_changed();
    }
}

/* Drops what the node did, and returns the handle under which its new uses are noted. If its graph
 * is not known, that is a handle of its own. */
uintptr_t sc_orphan_nodes_changed(CUgraphNode node, const struct sc_former *former)
{
    uintptr_t orphan = sc_graphs_orphan((uintptr_t)node);
    bool is_orphan = !former->graph || former->graph == orphan;
    if (is_orphan)
        sc_reaper_forget_graph(orphan);
    sc_orphan_nodes_destroyed(node, former);
    return is_orphan ? orphan : former->graph;
}

/* ---- orphans of a graph ---- */

/* Returns the child graph of a node, or NULL if it has none. */
static CUgraph child_of(CUgraphNode node)
{
    CUgraphNodeType type;
    CUgraph child = NULL;
    if (sc_real.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS ||
        type != CU_GRAPH_NODE_TYPE_GRAPH ||
        sc_real.cuGraphChildGraphNodeGetGraph(node, &child) != CUDA_SUCCESS)
        return NULL;
    return child;
}

/* Visits the orphan if the graphs of the tracker have one of this handle. */
static void visit_if_known(uintptr_t orphan, sc_visit_orphan *visit, void *argument)
{
    if (SC_TRACKED(sc_graphs_find(track.graphs, orphan)))
        visit(argument, orphan);
}

struct orphan_search {
    sc_visit_orphan *visit;
    void *argument;
};

/* Visits what is kept under the node itself, because its graph was not known. */
static enum sc_step visit_node(void *context, struct sc_walked_graph *in, CUgraphNode node,
                               CUgraphNodeType type)
{
    const struct orphan_search *search = context;
    (void)in;
    visit_if_known(sc_graphs_orphan((uintptr_t)node), search->visit, search->argument);
    return type == CU_GRAPH_NODE_TYPE_GRAPH ? SC_STEP_INTO : SC_STEP_OVER;
}

/* Visits what is kept under an inner graph. */
static void visit_graph(void *context, struct sc_walked_graph *graph, const CUgraphNode *nodes,
                        size_t count)
{
    const struct orphan_search *search = context;
    (void)nodes;
    (void)count;
    if (graph->depth > 0)
        visit_if_known((uintptr_t)graph->graph, search->visit, search->argument);
}

/* Has the program had the handle of a child graph, to which it may have added nodes? */
static _Atomic bool has_named_children;

void sc_orphan_nodes_name_children(void)
{
    atomic_store_explicit(&has_named_children, true, memory_order_relaxed);
}

/* May any graph have uses that are noted under its nodes? If not, none has to be walked over. */
static bool may_have_orphans(void)
{
    bool may = atomic_load_explicit(&has_named_children, memory_order_relaxed) ||
               SC_TRACKED(sc_graphs_have_orphans(track.graphs));
    return sc_active() && may && sc_driver_nodes_can_be_asked();
}

/* Calls `visit` for each handle, besides the graph's own, under which uses of its nodes are kept.
 */
void sc_orphan_nodes_each(CUgraph graph, sc_visit_orphan *visit, void *argument)
{
    static const struct sc_node_walk walk = {.meet = visit_node, .end = visit_graph};
    struct orphan_search search = {visit, argument};
    if (may_have_orphans())
        sc_node_walk_graph(&walk, &search, graph, NULL);
}

static void forget_orphan(void *unused, uintptr_t orphan)
{
    (void)unused;
    sc_reaper_forget_graph(orphan);
}

void sc_orphan_nodes_forget(CUgraph graph)
{
    sc_orphan_nodes_each(graph, forget_orphan, NULL);
}

/* Forgets the child graph of a node that is about to be destroyed, and detaches what the node did.
 * Returns its id, to be removed or attached again. */
uint32_t sc_orphan_nodes_destroying(CUgraphNode node)
{
    CUgraph child = may_have_orphans() ? child_of(node) : NULL;
    if (child) {
        sc_orphan_nodes_forget(child);
        sc_reaper_forget_graph((uintptr_t)child);
    }
    return sc_active()
               ? SC_TRACKED(sc_graphs_detach(track.graphs, sc_graphs_orphan((uintptr_t)node)))
               : 0;
}

static void add_all(void *handle, uintptr_t orphan)
{
    SC_TRACKED(sc_graphs_add_all(track.graphs, *(const uintptr_t *)handle, orphan));
}

void sc_orphan_nodes_add_all(uintptr_t handle, CUgraph of)
{
    sc_orphan_nodes_each(of, add_all, &handle);
}
