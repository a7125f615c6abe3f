#include "interpose/graph/certain_bodies.h"

#include <stdbool.h>
#include <stddef.h>

#include "interpose/graph/conditional_bodies.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/graph/node_walk.h"
#include "interpose/graph/reached.h"

#include "common/poison.h"

enum { NODES_MAX = 4096 }; /* a larger graph is not searched: that would take too long */

/* The walk's function for has_kernel: stores true at the first kernel node, and ends the walk
 * there, since one kernel is enough. Other nodes are entered. */
static enum sc_step stop_at_kernel(void *found, struct sc_walked_graph *in, CUgraphNode node,
                                   CUgraphNodeType type)
{
    (void)in;
    (void)node;
    *(bool *)found |= type == CU_GRAPH_NODE_TYPE_KERNEL;
    return *(bool *)found ? SC_STEP_STOP : SC_STEP_INTO;
}

/* Is the node a kernel, or is there a kernel within it? Asked because only kernels change the value
 * of a condition. The graphs that conditional nodes may run are searched, too. */
static bool has_kernel(CUgraphNode node)
{
    static const struct sc_node_walk walk = {.meet = stop_at_kernel};
    bool found = false;
    sc_node_walk_node(&walk, &found, node);
    return found;
}

/* Do all kernels of the graph come behind this conditional node, by the edges? Then none can change
 * the node's condition before a launch reads it. `nodes` has all nodes of the graph. Returns false
 * as well if the edges cannot be followed: then nothing is certain. */
static bool is_before_kernels(const CUgraphNode *nodes, size_t count, CUgraphNode node)
{
    struct sc_reached behind;
    if (!sc_reached_begin(&behind, count))
        return false;
    bool is_first = sc_reached_from(&behind, node, SC_WAY_BEHIND, NULL, NULL);
    for (size_t i = 0; is_first && i < count; i++)
        is_first = nodes[i] == node || sc_reached_has(&behind, nodes[i]) || !has_kernel(nodes[i]);
    sc_reached_end(&behind);
    return is_first;
}

/* Returns the graph within a conditional node (a body) that every launch runs, or NULL. The
 * condition's first value chooses that body, if no kernel can change the value before the node
 * runs. */
CUgraph sc_certain_bodies_find(CUgraph graph, CUgraphNode node)
{
    size_t count = 0;
    CUgraph body = sc_conditional_bodies_chosen(node);
    CUgraphNode *nodes = body ? sc_driver_nodes_of(graph, &count) : NULL;
    bool certain = nodes && count <= NODES_MAX && is_before_kernels(nodes, count, node);
    sc_driver_nodes_free(nodes, count);
    return certain ? body : NULL;
}
