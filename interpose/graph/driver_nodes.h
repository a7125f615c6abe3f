/* Asks the driver for the nodes of one graph and their edges.
 *
 * Needs: nobody changes the graph meanwhile. The thread that makes the call is responsible for
 * that, as CUDA asks of programs. Locks: none. Not for a signal handler: the driver is called. */
#ifndef SC_INTERPOSE_GRAPH_DRIVER_NODES_H
#define SC_INTERPOSE_GRAPH_DRIVER_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

/* Does the driver have the functions that list nodes and tell what they do? */
bool sc_driver_nodes_can_be_asked(void);

/* Has the graph any nodes? NULL has none. */
bool sc_driver_nodes_any(CUgraph graph);

/* Lists all nodes of the graph, in pages that sc_driver_nodes_free gives back. NULL and a count of
 * 0: the graph has no nodes, the driver refuses, or there is no memory. */
CUgraphNode *sc_driver_nodes_of(CUgraph graph, size_t *count);
void sc_driver_nodes_free(CUgraphNode *nodes, size_t count); /* NULL: nothing happens */

/* Lists the nodes with an edge to the node (SC_WAY_BEFORE) or from it (SC_WAY_BEHIND). At most
 * `count` are stored. Returns how many there are; 0 also if the driver refuses. */
enum sc_way { SC_WAY_BEFORE, SC_WAY_BEHIND };
size_t sc_driver_nodes_next_to(CUgraphNode node, enum sc_way way, CUgraphNode *room, size_t count);

/* The same as sc_driver_nodes_next_to, but tells a refusal apart: false if the driver refuses, as
 * it does if an edge is not a plain one. *count: the room, then how many nodes there are. */
bool sc_driver_nodes_ask_next_to(CUgraphNode node, enum sc_way way, CUgraphNode *room,
                                 size_t *count);

#endif
