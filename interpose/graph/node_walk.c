#include "interpose/graph/node_walk.h"

#include "interpose/graph/conditional_bodies.h"
#include "interpose/graph/driver_nodes.h"

#include "common/poison.h"

/* What all functions of one walk are given: the caller's functions, and their first argument. */
struct way {
    const struct sc_node_walk *walk;
    void *context;
};

/* Each walk_ function returns whether the walk goes on. */
static bool walk_node(const struct way *way, struct sc_walked_graph *in, CUgraphNode node);

/* Walks over the nodes of a graph in the driver's order, and calls `end` for it behind the last
 * one. A graph too deep within others counts as empty. Returns false if the walk is to end. */
static bool walk_graph(const struct way *way, struct sc_walked_graph graph)
{
    size_t count = 0;
    bool goes_on = true;
    CUgraphNode *nodes =
        graph.depth < SC_NODE_WALK_DEPTH_MAX ? sc_driver_nodes_of(graph.graph, &count) : NULL;
    for (size_t i = 0; i < count && goes_on; i++)
        goes_on = walk_node(way, &graph, nodes[i]);
    if (goes_on && way->walk->end)
        way->walk->end(way->context, &graph, nodes, count);
    sc_driver_nodes_free(nodes, count);
    return goes_on;
}

/* Walks over a graph that is inside of the node: a child graph, or the body of a conditional node.
 * `base`: see struct sc_walked_graph. */
static bool walk_inside(const struct way *way, const struct sc_walked_graph *in, CUgraphNode node,
                        CUgraph graph, CUgraph base)
{
    return walk_graph(way, (struct sc_walked_graph){
                               .graph = graph,
                               .base = base,
                               .top = sc_node_walk_top(in, node),
                               .around = node,
                               .depth = in->depth + 1,
                           });
}

/* Walks over the child graph of a node; goes on without it if the driver does not tell which that
 * is. */
static bool walk_child(const struct way *way, const struct sc_walked_graph *in, CUgraphNode node)
{
    CUgraph child;
    return sc_real.cuGraphChildGraphNodeGetGraph(node, &child) != CUDA_SUCCESS ||
           walk_inside(way, in, node, child, in->base);
}

/* Walks over the graphs (bodies) that a conditional node may run, as far as they are known; each is
 * a `base` of its own. Returns false if the walk is to end. */
static bool walk_bodies(const struct way *way, const struct sc_walked_graph *in, CUgraphNode node)
{
    CUgraph body;
    bool goes_on = true;
    for (uint32_t i = 0; goes_on && (body = sc_conditional_bodies_at(node, i)) != NULL; i++)
        goes_on = walk_inside(way, in, node, body, body);
    return goes_on;
}

/* Calls the walk's functions for the node, and in between walks over what is inside of it, if
 * `meet` wants that. With looks_for_bodies_only the driver is not asked for types: every node is
 * taken for a conditional one, and those that are none have no known bodies. Returns false if the
 * walk is to end. */
static bool walk_node(const struct way *way, struct sc_walked_graph *in, CUgraphNode node)
{
    const struct sc_node_walk *walk = way->walk;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    if (!walk->looks_for_bodies_only && sc_real.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
        return true;
    enum sc_step step = walk->meet ? walk->meet(way->context, in, node, type) : SC_STEP_INTO;
    bool goes_on = step != SC_STEP_STOP;
    if (step == SC_STEP_INTO && type == CU_GRAPH_NODE_TYPE_GRAPH)
        goes_on = walk_child(way, in, node);
    else if (step == SC_STEP_INTO && type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        goes_on = walk_bodies(way, in, node);
    if (goes_on && walk->leave)
        walk->leave(way->context, in, node, type);
    return goes_on;
}

void sc_node_walk_graph(const struct sc_node_walk *walk, void *context, CUgraph graph,
                        CUgraphNode top)
{
    const struct way way = {walk, context};
    /* A graph with a node around it counts as inside of that node. */
    walk_graph(&way,
               (struct sc_walked_graph){
                   .graph = graph, .base = graph, .top = top, .around = top, .depth = top != NULL});
}

/* Walks over one node, of which the graph is not known: the functions get zeros as its graph. */
void sc_node_walk_node(const struct sc_node_walk *walk, void *context, CUgraphNode node)
{
    const struct way way = {walk, context};
    struct sc_walked_graph unknown = {0};
    walk_node(&way, &unknown, node);
}

struct kind_search { /* for sc_node_walk_finds */
    sc_is_such *is_such;
    bool found;
};

/* The walk's function for sc_node_walk_finds: ends the walk at the first node for which `is_such`
 * holds. Only child graphs are entered; what is in a conditional node's body may not run. */
static enum sc_step stop_at_kind(void *context, struct sc_walked_graph *in, CUgraphNode node,
                                 CUgraphNodeType type)
{
    struct kind_search *search = context;
    (void)in;
    search->found = search->is_such(node, type);
    if (search->found)
        return SC_STEP_STOP;
    return type == CU_GRAPH_NODE_TYPE_GRAPH ? SC_STEP_INTO : SC_STEP_OVER;
}

/* Is the node, or any node in its child graphs, such a one? Asked for nodes of the outermost graph,
 * which stand for all that is within them. */
bool sc_node_walk_finds(CUgraphNode node, sc_is_such *is_such)
{
    static const struct sc_node_walk walk = {.meet = stop_at_kind};
    struct kind_search search = {is_such, false};
    sc_node_walk_node(&walk, &search, node);
    return search.found;
}
