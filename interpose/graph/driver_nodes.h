/* Asks the driver for the nodes of one graph and their edges.
 *
 * Pre: no thread changes the graph meanwhile; CUDA demands that of the program for its own calls,
 * too. Locks: none. Not for a signal handler: the driver is called. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 */
#ifndef SC_INTERPOSE_GRAPH_DRIVER_NODES_H
#define SC_INTERPOSE_GRAPH_DRIVER_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

/* Returns true if the driver has the functions that list nodes and describe them; old ones lack
 * some. */
bool sc_driver_nodes_can_be_asked(void);

/* Returns true if the graph has nodes; false for NULL. */
bool sc_driver_nodes_any(CUgraph graph);

/* Returns a list of all nodes of the graph, to be freed by sc_driver_nodes_free. NULL and a count
 * of 0: the graph has no nodes, the driver refuses, or there is no memory. */
CUgraphNode *sc_driver_nodes_of(CUgraph graph, size_t *count);
void sc_driver_nodes_free(CUgraphNode *nodes, size_t count); /* NULL does nothing */

/* Stores the nodes from which an edge leads to the node (SC_WAY_BEFORE), or to which an edge leads
 * from it (SC_WAY_BEHIND): at most `count`. Returns how many there are; 0 also if the driver
 * refuses. */
enum sc_way { SC_WAY_BEFORE, SC_WAY_BEHIND };
size_t sc_driver_nodes_next_to(CUgraphNode node, enum sc_way way, CUgraphNode *room, size_t count);

/* Lists the same nodes (sc_driver_nodes_next_to), for a caller that has to know whether the list is
 * complete: returns false if the driver refuses, as it does if an edge has data of its own. *count:
 * the room; gets the number of nodes. */
bool sc_driver_nodes_ask_next_to(CUgraphNode node, enum sc_way way, CUgraphNode *room,
                                 size_t *count);

#endif
