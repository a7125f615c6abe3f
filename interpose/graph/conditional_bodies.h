/* Bodies of conditional nodes: graphs that belong to a node, which the driver names only once, to
 * whoever adds the node. They live and end with it.
 *
 * Graphs with such nodes are never cloned, so that what is noted where a node is added is all.
 * Locks: one of its own, a leaf; no driver call is made under it.
 */
#ifndef SC_INTERPOSE_GRAPH_CONDITIONAL_BODIES_H
#define SC_INTERPOSE_GRAPH_CONDITIONAL_BODIES_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/driver/driver.h"

/* A node has been added. Without memory its bodies stay unknown. */
void sc_conditional_bodies_note(CUgraphNode node, const CUDA_CONDITIONAL_NODE_PARAMS *params);

bool sc_conditional_bodies_are_any(void);

/* The node's bodies, one after the other; NULL: it has no more, or they are not known. */
CUgraph sc_conditional_bodies_at(CUgraphNode node, uint32_t index);

/* Around the call that destroys a graph or a node: all bodies within, nested ones too, and what the
 * tracker knows of them. They are taken first, since the driver may give their handles to others
 * before it returns. */
struct sc_conditional_bodies;
struct sc_conditional_bodies *sc_conditional_bodies_take_of_graph(CUgraph graph); /* NULL: none */
struct sc_conditional_bodies *sc_conditional_bodies_take_of_node(CUgraphNode node);
void sc_conditional_bodies_put_back(struct sc_conditional_bodies *taken);
bool sc_conditional_bodies_end(
    struct sc_conditional_bodies *taken); /* true: something may be held no longer */

#endif
