/* Nodes of an exec that use the same device memory, one of them to write, and that no edges put in
 * an order, not even by way of others (track/graphs.h keeps them).
 *
 * Looked for in the outermost graph, when the exec is made or updated; a child graph counts as its
 * node. Locks: the tracker's inside. Not for a signal handler: the driver is called. errno may
 * change.
 */
#ifndef SC_INTERPOSE_GRAPH_DEVICE_RACES_H
#define SC_INTERPOSE_GRAPH_DEVICE_RACES_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/driver/driver.h"

struct sc_graph_call;

/* What the nodes do is noted for the exec, which is the graph of the call that has made it. `nodes`
 * are all nodes of the graph, and `name_of` says by which name the exec knows one. Nothing is found
 * where there are too many nodes, or no memory. */
typedef uintptr_t sc_name_of(const void *context, CUgraphNode node);
void sc_device_races_find(const struct sc_graph_call *made, CUgraph graph, const CUgraphNode *nodes,
                          size_t count, sc_name_of *name_of, const void *context);

#endif
