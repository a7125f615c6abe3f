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

/* Stores what one side of a node did before a call changes it, if that is host memory. */
static void add_former(void *context, enum sc_direction direction, const struct sc_copy_side *side)
{
    struct sc_former *former = context;
    if (side->used && sc_shape_hull_bytes(&side->shape))
        former->uses[former->count++] =
            (struct sc_graph_use){.shape = side->shape, .direction = direction};
}

/* Called before the program changes or destroys a node: finds under which handle the node's uses
 * are kept. If the tracker does not know the node by name, the driver is asked what the node does,
 * so that its uses can be found by their bytes. Not in a replay, before which the driver has
 * changed the node already. */
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

/* Called when the driver has destroyed the node: drops the uses that it had. A node that the
 * tracker knows by name has them in its graph. Else they are found by their bytes, and memory may
 * have been held back from a free for them. The record of an orphan (a node whose graph is not
 * known) was detached before the driver's call. */
void sc_orphan_nodes_destroyed(CUgraphNode node, const struct sc_former *former)
{
    if (former->graph && former->graph != sc_graphs_orphan((uintptr_t)node))
        SC_TRACKED(sc_graphs_drop_node(track.graphs, former->graph, (uintptr_t)node));
    else if (former->count) {
        /* These are uses of a node without a name; where several graphs have such, none goes. */
        for (uint32_t i = 0; i < former->count; i++)
            SC_TRACKED(sc_graphs_drop_former(track.graphs, &former->uses[i]));
        sc_reaper_graph_changed();
    }
}

/* Called when the program has changed the node: drops the uses that it had. Returns the handle
 * under which to note its new ones: its graph's or, for an orphan (only the driver knows its
 * graph), one made of the node's own handle. */
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

/* Returns the child graph of a node; NULL: it is of another type, or the driver does not tell. */
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

/* Visits the handle if uses are kept under it: most nodes of a graph are no orphans. */
static void visit_if_known(uintptr_t orphan, sc_visit_orphan *visit, void *argument)
{
    if (SC_TRACKED(sc_graphs_find(track.graphs, orphan)))
        visit(argument, orphan);
}

struct orphan_search { /* what the walk of sc_orphan_nodes_each is given */
    sc_visit_orphan *visit;
    void *argument;
};

/* The walk's function for sc_orphan_nodes_each: visits what is kept under a node's own handle,
 * because its graph was not known. Child graphs are entered; bodies of conditional nodes are known
 * by their own handles. */
static enum sc_step visit_node(void *context, struct sc_walked_graph *in, CUgraphNode node,
                               CUgraphNodeType type)
{
    const struct orphan_search *search = context;
    (void)in;
    visit_if_known(sc_graphs_orphan((uintptr_t)node), search->visit, search->argument);
    return type == CU_GRAPH_NODE_TYPE_GRAPH ? SC_STEP_INTO : SC_STEP_OVER;
}

/* The walk's function behind a graph's last node: visits what is kept under the handle of a child
 * graph, by which the program may have added nodes. The outermost graph is the caller's own. */
static void visit_graph(void *context, struct sc_walked_graph *graph, const CUgraphNode *nodes,
                        size_t count)
{
    const struct orphan_search *search = context;
    (void)nodes;
    (void)count;
    if (graph->depth > 0)
        visit_if_known((uintptr_t)graph->graph, search->visit, search->argument);
}

/* Has the program ever learnt the handle of a child graph, by which it may have added nodes? */
static _Atomic bool has_named_children;

void sc_orphan_nodes_name_children(void)
{
    atomic_store_explicit(&has_named_children, true, memory_order_relaxed);
}

/* May uses of a graph be kept under other handles than its own? If not, as in nearly all programs,
 * no graph has to be walked over. */
static bool may_have_orphans(void)
{
    bool may = atomic_load_explicit(&has_named_children, memory_order_relaxed) ||
               SC_TRACKED(sc_graphs_have_orphans(track.graphs));
    return sc_active() && may && sc_driver_nodes_can_be_asked();
}

/* Calls `visit` for each handle, besides the graph's own, under which uses of its nodes are kept.
 * Called when the graph is destroyed, cloned, made part of another one or made an exec of. */
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

/* Called before the driver destroys the node: forgets its child graph, which goes with it. Detaches
 * an orphan (a node whose graph is not known) from its handle, which the driver may give to a new
 * node at once. Returns the orphan's id, to be removed or attached again by the driver's answer; 0:
 * the node is none. */
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
