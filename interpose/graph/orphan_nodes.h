/* Strays: nodes of which only the driver knows whose they are, and that the program has changed, or
 * that it has added to a child graph by that graph's own handle.
 *
 * No call of the driver leads from a node to its graph, and asking all graphs for their nodes would
 * look into those that other threads are changing. So what such a node names is kept under the
 * node itself (track/graphs.h), and graphs are asked for their nodes where they go, or become part
 * of others: that is a matter of the thread that makes the call.
 *
 * Locks: the tracker's inside. Calls the driver. Does nothing before the library is active.
 */
#ifndef SC_INTERPOSE_GRAPH_ORPHAN_NODES_H
#define SC_INTERPOSE_GRAPH_ORPHAN_NODES_H

#include <stdint.h>

#include "interpose/driver/driver.h"
#include "track/graphs.h"

/* What a node does before it is changed or destroyed. */
struct sc_former {
    uintptr_t graph;             /* that knows the node, or its own; 0: none */
    struct sc_graph_use uses[2]; /* of no known graph: as the driver has them */
    uint32_t count;
};
struct sc_former sc_orphan_nodes_former(CUgraphNode node);

/* The driver has changed the node: it does no more what it did. The handle under which to note what
 * it does now. */
uintptr_t sc_orphan_nodes_changed(CUgraphNode node, const struct sc_former *former);

/* The driver is about to destroy the node, with its children: the stray that is to be removed then,
 * or attached again if the driver refuses; 0: none. */
uint32_t sc_orphan_nodes_destroying(CUgraphNode node);

/* It has; the name may be another thread's node's already. */
void sc_orphan_nodes_destroyed(CUgraphNode node, const struct sc_former *former);

/* The program is about to know a child graph by its handle: what it adds there is noted under it,
 * and counts as strays of the graphs around it. */
void sc_orphan_nodes_name_children(void);

/* Calls visit for each stray of the graph and of its children, and for each child that is known by
 * its handle. */
typedef void sc_visit_orphan(void *argument, uintptr_t stray);
void sc_orphan_nodes_each(CUgraph graph, sc_visit_orphan *visit, void *argument);

/* The graph is about to be destroyed, with its nodes and its children's. */
void sc_orphan_nodes_forget(CUgraph graph);

/* The graph of this handle is about to name what strays among the other's nodes do. */
void sc_orphan_nodes_add_all(uintptr_t handle, CUgraph of);

#endif
