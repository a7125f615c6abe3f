/* Keeps track of orphan nodes: nodes that the program has changed, or has added to a child graph by
 * that graph's own handle, and whose graph only the driver knows.
 *
 * No call of the driver leads from a node to its graph. All graphs cannot be searched for it, since
 * other threads may be changing them. So what an orphan names is kept under the node itself
 * (track/graphs.h). A graph is asked for its orphans when it ends, or becomes part of another: then
 * nobody but the calling thread may change it.
 *
 * Nothing happens before the library is active. Locks: the tracker's inside. Not for a signal
 * handler: the driver is called. */
#ifndef SC_INTERPOSE_GRAPH_ORPHAN_NODES_H
#define SC_INTERPOSE_GRAPH_ORPHAN_NODES_H

#include <stdint.h>

#include "interpose/driver/driver.h"
#include "track/graphs.h"

/* What a node did before a call that changes or destroys it; asked before that call. */
struct sc_former {
    uintptr_t graph; /* what knows the node: its graph, or the orphan's own handle; 0: nothing */
    struct sc_graph_use uses[2]; /* with graph 0: what the driver says of the node */
    uint32_t count;
};
struct sc_former sc_orphan_nodes_describe(CUgraphNode node);

/* After a call that has changed the node: drops what the node did before. Returns the handle under
 * which to note what it does now. */
uintptr_t sc_orphan_nodes_changed(CUgraphNode node, const struct sc_former *former);

/* The driver is about to destroy the node, with its child graph. Detaches the orphan and returns
 * its id in the tracker; 0: the node is no orphan. The caller removes the orphan when the driver
 * has returned, or attaches it again if the driver has refused. */
uint32_t sc_orphan_nodes_destroying(CUgraphNode node);

/* After a call that has destroyed the node: drops what it did. Another thread's node may have the
 * same name by now. */
void sc_orphan_nodes_destroyed(CUgraphNode node, const struct sc_former *former);

/* The program is about to be told the handle of a child graph. Nodes that it adds by that handle
 * are noted under it, and count as an orphan of the graphs around. */
void sc_orphan_nodes_name_children(void);

/* Calls visit with the handle of each orphan of the graph and of its child graphs, and of each
 * child graph that is known by its handle. */
typedef void sc_visit_orphan(void *argument, uintptr_t orphan);
void sc_orphan_nodes_each(CUgraph graph, sc_visit_orphan *visit, void *argument);

/* Before a call that destroys the graph: drops its orphans, and those of its child graphs. */
void sc_orphan_nodes_forget(CUgraph graph);

/* The graph of this handle names from now on what the orphans of the other graph name. */
void sc_orphan_nodes_add_all(uintptr_t handle, CUgraph of);

#endif
