/* Has the driver call a function of the library's in place of a host node's own function. That
 * function then calls the program's.
 *
 * So the library sees when the host learns that the nodes before it are done
 * (track/watched_nodes.h). Only the exec's node is changed, after the exec was made and before it
 * is launched (by cuGraphExecHostNodeSetParams, which a program may call as well). The node of the
 * program's graph keeps the program's function.
 *
 * Locks: none is held; takes the tracker's. Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   exec: an instantiated graph (CUgraphExec)
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_GRAPH_HOST_NODES_H
#define SC_INTERPOSE_GRAPH_HOST_NODES_H

#include <stdbool.h>

#include "interpose/driver/driver.h"

struct sc_watched_node;

/* Has the driver call a function of the library's, which calls the program's, for the exec's host
 * node. Called when the exec has just been made, and knows the node by the same handle as the
 * graph. Returns false if the driver will call the program's function itself. */
bool sc_host_nodes_watch(CUgraphExec exec, CUgraphNode node);

/* Called around the call by which the program gives a host node of an exec another function. Begin
 * puts the library's function and data into `*function` and `*data`, which the wrapper passes to
 * the driver. Returns the record for end; NULL: the program's function goes to the driver as it is.
 * End takes the driver's answer. */
struct sc_watched_node *sc_host_nodes_begin_change(CUgraphExec exec, CUgraphNode node,
                                                   CUhostFn *function, void **data);
void sc_host_nodes_end_change(CUgraphExec exec, CUgraphNode node, struct sc_watched_node *changed,
                              CUresult result);

#endif
