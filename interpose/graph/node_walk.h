/* A walk over the nodes of a graph and of the graphs within: child graphs, and bodies of
 * conditional nodes.
 *
 * The nodes of a graph come in the driver's order, and what is inside of a node comes before the
 * next node. A graph that cannot be listed counts as one without nodes: the driver refuses, there
 * is no memory, or SC_NODE_WALK_DEPTH_MAX graphs lie around it. A node of which the driver does not
 * tell the type is left out.
 *
 * Needs: the driver can be asked (sc_driver_nodes_can_be_asked), and nobody changes the graph.
 * Locks: none is held when a function of the walk is called. Not for a signal handler.
 * Stack: some 200 bytes for each graph within another. The functions of the walk add theirs once.
 */
#ifndef SC_INTERPOSE_GRAPH_NODE_WALK_H
#define SC_INTERPOSE_GRAPH_NODE_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

enum { SC_NODE_WALK_DEPTH_MAX = 16 };

/* A graph on the way. */
struct sc_walked_graph {
    CUgraph graph;
    CUgraph base; /* the graph, unless it is a child graph: then the base of the one around it */
    CUgraphNode
        top; /* the node of the outermost graph that this one is inside of; NULL: it is it */
    CUgraphNode around; /* the node that this one is directly inside of; NULL: it is outermost */
    int depth;          /* graphs around it */
    bool flag;          /* for the functions of the walk; false at first */
};

enum sc_step {
    SC_STEP_INTO, /* what is inside of the node comes next */
    SC_STEP_OVER, /* what is inside of the node is left out */
    SC_STEP_STOP, /* the walk is over: no function of it is called any more */
};

/* The functions of a walk. Each may be NULL. */
struct sc_node_walk {
    /* A node, before what is inside of it. NULL: SC_STEP_INTO. */
    enum sc_step (*meet)(void *context, struct sc_walked_graph *in, CUgraphNode node,
                         CUgraphNodeType type);
    /* The node again, behind what is inside of it. */
    void (*leave)(void *context, struct sc_walked_graph *in, CUgraphNode node,
                  CUgraphNodeType type);
    /* A graph behind its last node, with all of them. */
    void (*end)(void *context, struct sc_walked_graph *graph, const CUgraphNode *nodes,
                size_t count);
    /* The driver is not asked for types, nor for child graphs. Each node passes as a conditional
     * one, and has the bodies that are known of it. */
    bool looks_for_bodies_only;
};

/* Walks over the graph. `top` stands for all of its nodes; NULL: each stands for itself. */
void sc_node_walk_graph(const struct sc_node_walk *walk, void *context, CUgraph graph,
                        CUgraphNode top);

/* Walks over the node and what is inside of it. The graph that it is in is unknown: NULL. */
void sc_node_walk_node(const struct sc_node_walk *walk, void *context, CUgraphNode node);

/* Is the node such a one, or one within its child graphs? Bodies are left out. */
typedef bool sc_is_such(CUgraphNode node, CUgraphNodeType type);
bool sc_node_walk_finds(CUgraphNode node, sc_is_such *such);

/* The node of the outermost graph that `node` stands for. */
static inline CUgraphNode sc_node_walk_top(const struct sc_walked_graph *in, CUgraphNode node)
{
    return in->top ? in->top : node;
}

#endif
