/* Finds the nodes of a graph that come before a node, or behind it, by the edges.
 *
 * Pre: no thread changes the graph meanwhile. Locks: none. Not for a signal handler: the driver is
 * called. */
#ifndef SC_INTERPOSE_GRAPH_REACHED_H
#define SC_INTERPOSE_GRAPH_REACHED_H

#include <stdbool.h>
#include <stddef.h>

#include "common/handles.h"
#include "interpose/driver/driver.h"
#include "interpose/graph/driver_nodes.h"

/* A search along the edges of one graph: the nodes that it has reached so far (`met`). */
struct sc_reached {
    CUgraphNode *room; /* for nodes to go on from, and for one answer of the driver's */
    size_t count;      /* how many nodes the graph has */
    struct sc_handles met;
};

/* Begins a search in a graph of `count` nodes. Returns false if there is no memory; else the caller
 * ends the search by sc_reached_end. */
bool sc_reached_begin(struct sc_reached *reach, size_t count);
void sc_reached_end(struct sc_reached *reach);

/* Goes from the node along the edges, over any number of them, and calls `visit` (or nothing: NULL)
 * for each node that no call for this search has reached before. Returns false if some nodes may be
 * missing: the driver does not tell the neighbours of one, or there is no memory. */
typedef void sc_reached_visit(void *context, CUgraphNode node);
bool sc_reached_from(struct sc_reached *reach, CUgraphNode from, enum sc_way way,
                     sc_reached_visit *visit, void *context);

/* Returns true if one of these calls has reached the node. */
bool sc_reached_has(struct sc_reached *reach, CUgraphNode node);

#endif
