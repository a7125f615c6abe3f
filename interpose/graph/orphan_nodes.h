/* Keeps track of orphans: nodes that the program has changed, or has added to a child graph by that
 * graph's own handle, and of which only the driver knows the graph.
 *
 * No call of the driver returns the graph of a node. To search all graphs for the node is not
 * allowed, since other threads may be changing them. So what an orphan uses is kept under the
 * node's own handle (track/graphs.h). A graph is searched for its orphans when it is destroyed or
 * becomes part of another graph. CUDA demands that no other thread changes it then, so the search
 * is allowed.
 *
 * Does nothing before the library is active. Locks: takes the tracker's. Not for a signal handler:
 * the driver is called. */

/* Terms (docs/glossary.md):
 *   orphan: a node whose graph only the driver knows
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_GRAPH_ORPHAN_NODES_H
#define SC_INTERPOSE_GRAPH_ORPHAN_NODES_H

#include <stdint.h>

#include "interpose/driver/driver.h"
#include "track/graphs.h"

/* What a node did before a call that changes or destroys it; asked for before that call. */
struct sc_former {
    /* the handle under which the node's uses are kept: its graph's, or the orphan's; 0: none are */
    uintptr_t graph;
    struct sc_graph_use uses[2]; /* if graph is 0: the uses, as the driver describes the node */
    uint32_t count;
};
/* Finds out what the node does, for the functions that are called when the driver has changed or
 * destroyed it. Asks the tracker, or else the driver. */
struct sc_former sc_orphan_nodes_describe(CUgraphNode node);

/* Called after a call that has changed the node: drops what the node did before. Returns the handle
 * under which to note what it does now: its graph's, or its own if the graph is not known. */
uintptr_t sc_orphan_nodes_changed(CUgraphNode node, const struct sc_former *former);

/* Called before the driver destroys the node, with its child graph: takes the handle from an orphan
 * (a node whose graph is not known), as the driver may give it to a new node. Returns the orphan's
 * id in the tracker; 0: the node is none. When the driver has returned, the caller removes the
 * orphan, or attaches it again if the driver has refused. */
uint32_t sc_orphan_nodes_destroying(CUgraphNode node);

/* Called after a call that has destroyed the node: drops what `former` says that it did. Nothing is
 * looked up by the node's handle alone, which may be another node's by now. */
void sc_orphan_nodes_destroyed(CUgraphNode node, const struct sc_former *former);

/* Called when the program is about to learn the handle of a child graph. The uses of nodes that it
 * adds by that handle are kept under it, so graphs around have to be searched for them from now
 * on. */
void sc_orphan_nodes_name_children(void);

/* Calls `visit` with each handle, besides the graph's own, under which uses of its nodes are kept.
 * These are the handles of orphans (nodes whose graph is not known) in it and in its child graphs,
 * and of child graphs that the program knows. Walks over the graph if there may be any. */
typedef void sc_visit_orphan(void *argument, uintptr_t orphan);
void sc_orphan_nodes_each(CUgraph graph, sc_visit_orphan *visit, void *argument);

/* Called before the graph is destroyed: drops what its orphans (nodes kept under their own
 * handles), and its child graphs' nodes, used. */
void sc_orphan_nodes_forget(CUgraph graph);

/* Adds to the graph of this handle all that orphans (nodes kept under their own handles) of the
 * graph `of` use: it is a clone of `of`, or has `of` as a child. */
void sc_orphan_nodes_add_all(uintptr_t handle, CUgraph of);

#endif
