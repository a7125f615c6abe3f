/* Keeps the bodies of conditional nodes: the graphs that a node may run. A body lives as long as
 * its node.
 *
 * The driver names a node's bodies only once, to the call that adds the node, so they are noted
 * then. The driver does not clone graphs with such nodes, so there is no other way to get a body.
 *
 * Locks: one of its own, a leaf; the driver is not called under it. Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   body: a graph in a conditional node
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_GRAPH_CONDITIONAL_BODIES_H
#define SC_INTERPOSE_GRAPH_CONDITIONAL_BODIES_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/driver/driver.h"

/* Notes a condition's handle, which was made for a conditional node that is still to be added to
 * the graph. `has_value`: the condition has this value whenever a launch begins. */
void sc_conditional_bodies_note_handle(CUgraph graph, CUgraphConditionalHandle handle,
                                       bool has_value, unsigned value);

/* Notes the bodies of a node that was added to the graph. Without memory they stay unknown. */
void sc_conditional_bodies_note(CUgraph graph, CUgraphNode node,
                                const CUDA_CONDITIONAL_NODE_PARAMS *params);

/* Returns true if bodies of any node are known. Lock-free. */
bool sc_conditional_bodies_exist(void);

/* Returns the node's body with this index. NULL: the node has no more, or its bodies are not known.
 */
CUgraph sc_conditional_bodies_at(CUgraphNode node, uint32_t index);

/* Returns the body that the node runs at least once if the condition still has its first value when
 * a launch reaches the node. NULL: none, or the value is not known. */
CUgraph sc_conditional_bodies_chosen(CUgraphNode node);

/* Called around the call that destroys a graph or a node. Before the call, take all bodies within
 * out of the tables, with what the tracker knows of them, since the driver may give their handles
 * to other graphs before it returns. Return them, or NULL if there are none. After the call,
 * sc_conditional_bodies_end frees them, or restores them if the driver has refused. Pre: no thread
 * changes the graph. Taking calls the driver. */
struct sc_conditional_bodies;
struct sc_conditional_bodies *sc_conditional_bodies_take_of_graph(CUgraph graph);
struct sc_conditional_bodies *sc_conditional_bodies_take_of_node(CUgraphNode node);
void sc_conditional_bodies_end(struct sc_conditional_bodies *taken, bool destroyed);

#endif
