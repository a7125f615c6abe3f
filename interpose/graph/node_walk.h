/* A walk over the nodes of a graph and of the graphs within it: child graphs, and bodies of
 * conditional nodes.
 *
 * The nodes of a graph come in the driver's order. What is inside of a node comes before the next
 * node. A graph counts as one without nodes if it cannot be listed: the driver refuses, there is no
 * memory, or SC_NODE_WALK_DEPTH_MAX graphs are around it. A node is left out if the driver does not
 * tell its type.
 *
 * Needs: the driver can be asked (sc_driver_nodes_can_be_asked), and nobody changes the graph.
 * Locks: none is held when a function of the walk is called. Not for a signal handler. Stack: some
 * 200 bytes for each graph within another. The functions of the walk add theirs once.
 */
#ifndef SC_INTERPOSE_GRAPH_NODE_WALK_H
#define SC_INTERPOSE_GRAPH_NODE_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

enum { SC_NODE_WALK_DEPTH_MAX = 16 };

/* A graph that the walk is in. */
struct sc_walked_graph {
    CUgraph graph;
    CUgraph base;       /* the graph itself; of a child graph the base of the graph around it */
    CUgraphNode top;    /* the outermost graph's node that this graph is inside of; NULL: none */
    CUgraphNode around; /* the node that this graph is directly within; NULL: none */
    int depth;          /* how many graphs are around this one */
    bool flag;          /* for the functions of the walk; false at first */
};

enum sc_step {
    SC_STEP_INTO, /* what is inside of the node comes next */
    SC_STEP_OVER, /* what is inside of the node is left out */
    SC_STEP_STOP, /* the walk is over: no function of it is called any more */
};

/* The functions of a walk. Each may be NULL. */
struct sc_node_walk {
    /* Called for a node, before what is inside of it. NULL: SC_STEP_INTO. */
    enum sc_step (*meet)(void *context, struct sc_walked_graph *in, CUgraphNode node,
                         CUgraphNodeType type);
    /* Called for the node again, after what is inside of it. */
    void (*leave)(void *context, struct sc_walked_graph *in, CUgraphNode node,
                  CUgraphNodeType type);
    /* Called for a graph after its last node, with all nodes. */
    void (*end)(void *context, struct sc_walked_graph *graph, const CUgraphNode *nodes,
                size_t count);
    /* The walk looks for known bodies alone: the driver is not asked for types and child graphs,
     * and each node counts as a conditional node with the bodies that are known of it. */
    bool looks_for_bodies_only;
};

/* Walks over the graph. `top`: the node that stands for all nodes of the graph; NULL: each stands
 * for itself. */
void sc_node_walk_graph(const struct sc_node_walk *walk, void *context, CUgraph graph,
                        CUgraphNode top);

/* Walks over the node and what is inside of it. The node's graph is unknown: `in` is all zeros. */
void sc_node_walk_node(const struct sc_node_walk *walk, void *context, CUgraphNode node);

/* Does `is_such` hold for the node, or for a node within its child graphs? Bodies are left out. */
typedef bool sc_is_such(CUgraphNode node, CUgraphNodeType type);
bool sc_node_walk_finds(CUgraphNode node, sc_is_such *is_such);

/* The node of the outermost graph that `node` stands for. */
static inline CUgraphNode sc_node_walk_top(const struct sc_walked_graph *in, CUgraphNode node)
{
    return in->top ? in->top : node;
}

#endif
