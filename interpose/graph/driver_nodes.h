/* The driver's nodes of a graph, asked for. The caller sees to it that nobody changes the graph
 * meanwhile. */
#ifndef SC_INTERPOSE_GRAPH_DRIVER_NODES_H
#define SC_INTERPOSE_GRAPH_DRIVER_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

enum { SC_NODES_DEPTH_MAX = 16 }; /* of graphs within graphs that are looked into */

/* Can the driver be asked for nodes and what they do? */
bool sc_driver_nodes_can_be_asked(void);

/* May the graph have no nodes, or but empty ones, so that a launch of it is no work? Of a large one
 * that is not known. `depth`: of graphs within graphs, 0. */
bool sc_driver_nodes_may_do_nothing(CUgraph graph, int depth);

/* All nodes of the graph, in pages that sc_driver_nodes_free takes back; NULL for none. */
CUgraphNode *sc_driver_nodes_of(CUgraph graph, size_t *count);
void sc_driver_nodes_free(CUgraphNode *nodes, size_t count);

#endif
