/* Keeps which bodies (graphs) conditional nodes have. A body belongs to its node, and lives and
 * ends with it.
 *
 * The driver names a node's bodies only once, to whoever adds the node, so they are noted then. It
 * clones no graph that has such nodes, so no other way leads to bodies.
 *
 * Locks: one of its own, a leaf; no driver call is made under it. Not for a signal handler. */
#ifndef SC_INTERPOSE_GRAPH_CONDITIONAL_BODIES_H
#define SC_INTERPOSE_GRAPH_CONDITIONAL_BODIES_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/driver/driver.h"

/* Notes a handle that was made for a conditional node which is still to be added to the graph.
 * `has_value`: each launch begins with this value. */
void sc_conditional_bodies_note_handle(CUgraph graph, CUgraphConditionalHandle handle,
                                       bool has_value, unsigned value);

/* Notes the bodies of a node that was added to the graph. If there is no memory, they stay
 * unknown. */
void sc_conditional_bodies_note(CUgraph graph, CUgraphNode node,
                                const CUDA_CONDITIONAL_NODE_PARAMS *params);

/* Are bodies known of any node? Lock-free. */
bool sc_conditional_bodies_exist(void);

/* The node's body of this index. NULL: the node has no more, or its bodies are not known. */
CUgraph sc_conditional_bodies_at(CUgraphNode node, uint32_t index);

/* The body that the node runs at least once if the condition still has its first value when a
 * launch reaches the node. NULL: none, or the value is not known. */
CUgraph sc_conditional_bodies_chosen(CUgraphNode node);

/* Around the call that destroys a graph or a node. All bodies within are taken before the call,
 * with what the tracker knows of them: the driver may give their handles to other graphs before it
 * returns. After the call the bodies end, or are put back if the driver has refused. NULL: there
 * are no bodies. Needs: nobody changes the graph. Taking calls the driver. */
struct sc_conditional_bodies;
struct sc_conditional_bodies *sc_conditional_bodies_take_of_graph(CUgraph graph);
struct sc_conditional_bodies *sc_conditional_bodies_take_of_node(CUgraphNode node);
void sc_conditional_bodies_put_back(struct sc_conditional_bodies *taken);
void sc_conditional_bodies_end(struct sc_conditional_bodies *taken);

#endif
