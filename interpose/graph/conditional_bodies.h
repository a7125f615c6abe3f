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

/* Notes the handle of a condition, for a conditional node that the program has still to add to the
 * graph. `has_value`: the condition has this value whenever a launch begins, which chooses the body
 * that runs. */
void sc_conditional_bodies_note_handle(CUgraph graph, CUgraphConditionalHandle handle,
                                       bool has_value, unsigned value);

/* Notes the bodies (the graphs that a conditional node may run) of a node that was just added to
 * the graph. Without memory they stay unknown. */
void sc_conditional_bodies_note(CUgraph graph, CUgraphNode node,
                                const CUDA_CONDITIONAL_NODE_PARAMS *params);

/* Returns true if the bodies of any node are known; else a walk need not look for them.
 * Lock-free. */
bool sc_conditional_bodies_exist(void);

/* Returns one of the graphs that a conditional node may run, by its index from 0. NULL: the node
 * has no more, is of another type, or its graphs are not known. */
CUgraph sc_conditional_bodies_at(CUgraphNode node, uint32_t index);

/* Returns the graph that a conditional node runs if no kernel has changed its condition since the
 * launch began. NULL: it runs none then, or the condition's first value is not known. */
CUgraph sc_conditional_bodies_chosen(CUgraphNode node);

/* Called around the call that destroys a graph or a node, since the driver may give the handles of
 * the bodies within to other graphs before it returns. Before the call, take_ removes these bodies
 * from the tables, together with what the tracker knows of them. Returns them, or NULL if there are
 * none. After the call, end frees them, or restores them if the driver has refused. Pre: no thread
 * changes the graph. take_ calls the driver. */
struct sc_conditional_bodies;
struct sc_conditional_bodies *sc_conditional_bodies_take_of_graph(CUgraph graph);
struct sc_conditional_bodies *sc_conditional_bodies_take_of_node(CUgraphNode node);
void sc_conditional_bodies_end(struct sc_conditional_bodies *taken, bool destroyed);

#endif
