/* Walks over the nodes of a graph and of the graphs within it: child graphs, and bodies of
 * conditional nodes.
 *
 * The nodes of a graph are visited in the driver's order, and what is inside of a node before the
 * next node. A graph counts as empty if it cannot be listed: the driver refuses, there is no
 * memory, or SC_NODE_WALK_DEPTH_MAX graphs are around it. A node is left out if the driver does not
 * tell its type.
 *
 * Pre: the driver can be asked (sc_driver_nodes_can_be_asked), and no thread changes the graph.
 * Locks: none is held when a function of the walk is called. Not for a signal handler. Stack: about
 * 200 bytes for each graph within another, and once what the functions of the walk need. */

/* Terms (docs/glossary.md):
 *   body: a graph in a conditional node
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
    /* the graph that was walked from. For a child graph: the `base` of the graph around it; for
     * other graphs: the graph itself */
    CUgraph base;
    /* the outermost graph's node that this graph is inside of; NULL: it is the outermost */
    CUgraphNode top;
    /* the node that this graph is directly inside of; NULL: it is the outermost */
    CUgraphNode around;
    int depth; /* how many graphs this one is inside of */
    bool flag; /* for the functions of the walk to use; false at first */
};

/* What the walk does next, as its function `meet` says. */
enum sc_step {
    SC_STEP_INTO, /* visit what is inside of the node next */
    SC_STEP_OVER, /* do not visit what is inside of the node */
    SC_STEP_STOP, /* end the walk: no function of it is called any more */
};

/* The functions that a walk calls. Each may be NULL. */
struct sc_node_walk {
    /* Called for a node, before what is inside of it. If NULL, every node counts as SC_STEP_INTO.
     */
    enum sc_step (*meet)(void *context, struct sc_walked_graph *in, CUgraphNode node,
                         CUgraphNodeType type);
    /* Called for a node again, after what is inside of it. */
    void (*leave)(void *context, struct sc_walked_graph *in, CUgraphNode node,
                  CUgraphNodeType type);
    /* Called for a graph after its last node, with the list of its nodes. */
    void (*end)(void *context, struct sc_walked_graph *graph, const CUgraphNode *nodes,
                size_t count);
    /* Visit only bodies that are known: the driver is not asked for types and child graphs, and
     * each node counts as a conditional node with the bodies that are known of it. */
    bool looks_for_bodies_only;
};

/* Walks over the graph's nodes, and calls the functions of `walk` with `context`. `top`: the node
 * that the graph is inside of (a child graph of an exec's node); NULL: the graph is the
 * outermost. */
void sc_node_walk_graph(const struct sc_node_walk *walk, void *context, CUgraph graph,
                        CUgraphNode top);

/* Walks over the node and what is inside of it, as before the driver destroys the node. The node's
 * graph is not known: the functions get an `in` of zeros. */
void sc_node_walk_node(const struct sc_node_walk *walk, void *context, CUgraphNode node);

/* Returns true if `is_such` returns true for the node or for a node within its child graphs. Bodies
 * are not visited. */
typedef bool sc_is_such(CUgraphNode node, CUgraphNodeType type);
bool sc_node_walk_finds(CUgraphNode node, sc_is_such *is_such);

/* Returns the outermost graph's node that `node` is inside of, or `node` itself. */
static inline CUgraphNode sc_node_walk_top(const struct sc_walked_graph *in, CUgraphNode node)
{
    return in->top ? in->top : node;
}

#endif
