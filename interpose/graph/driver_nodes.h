/* Asks the driver for the nodes of one graph and their edges.
 *
 * Pre: no thread changes the graph meanwhile; CUDA demands that of the program for its own calls,
 * too. Locks: none. Not for a signal handler: the driver is called. */

#ifndef SC_INTERPOSE_GRAPH_DRIVER_NODES_H
#define SC_INTERPOSE_GRAPH_DRIVER_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

/* Returns true if the driver has the functions that list a graph's nodes and describe them; old
 * drivers lack some. Asked before any walk over a graph. */
bool sc_driver_nodes_can_be_asked(void);

/* Returns true if the graph has nodes; false for NULL. */
bool sc_driver_nodes_any(CUgraph graph);

/* Returns a list of all nodes of the graph, to be freed by sc_driver_nodes_free with the same
 * count. NULL and a count of 0: the graph has no nodes, the driver refuses, or there is no
 * memory. */
CUgraphNode *sc_driver_nodes_of(CUgraph graph, size_t *count);
void sc_driver_nodes_free(CUgraphNode *nodes, size_t count); /* NULL does nothing */

enum sc_way { SC_WAY_BEFORE, SC_WAY_BEHIND };

/* Stores the nodes from which an edge leads to the node (SC_WAY_BEFORE), or to which an edge leads
 * from it (SC_WAY_BEHIND). *count: the room; gets how many there are, which may be more. Returns
 * false if the driver refuses, as it may for an edge with data of its own: the caller then does not
 * know the order. */
bool sc_driver_nodes_next_to(CUgraphNode node, enum sc_way way, CUgraphNode *room, size_t *count);

#endif
