/* The nodes of one graph and their edges, as the driver lists them.
 *
 * Needs: nobody changes the graph meanwhile. That is a matter of the thread that makes the call.
 * Locks: none. Not for a signal handler: the driver is called.
 */
#ifndef SC_INTERPOSE_GRAPH_DRIVER_NODES_H
#define SC_INTERPOSE_GRAPH_DRIVER_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

/* Does the driver have the functions that tell nodes and what they do? */
bool sc_driver_nodes_can_be_asked(void);

/* Has the graph nodes, as far as the driver says? NULL has none. */
bool sc_driver_nodes_any(CUgraph graph);

/* All nodes of the graph, in pages that sc_driver_nodes_free gives back. NULL, and a count of 0:
 * the graph has none, the driver refuses, or there is no memory. */
CUgraphNode *sc_driver_nodes_of(CUgraph graph, size_t *count);
void sc_driver_nodes_free(CUgraphNode *nodes, size_t count); /* NULL: nothing happens */

/* The nodes that have an edge to the node, or from it. Not more than `count` are stored. Returns
 * how many there are; 0: none, or the driver refuses. */
enum sc_way { SC_WAY_BEFORE, SC_WAY_BEHIND };
size_t sc_driver_nodes_next_to(CUgraphNode node, enum sc_way way, CUgraphNode *room, size_t count);

/* The same; false: the driver refuses, as it does where an edge is of another kind than plain
 * ones. `*count`: the room, then how many there are. */
bool sc_driver_nodes_ask_next_to(CUgraphNode node, enum sc_way way, CUgraphNode *room,
                                 size_t *count);

#endif
