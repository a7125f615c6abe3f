/* Has the driver call a function of ours in place of a host node's own, which then calls the
 * program's.
 *
 * So it is seen when the host hears that the nodes before are done (track/watched_nodes.h). The
 * program's graph keeps the program's function. Only the exec's node gets ours, when the exec has
 * been made and before it is launched. The program could do the same by
 * cuGraphExecHostNodeSetParams.
 *
 * Locks: none is held; the tracker's is taken inside. Not for a signal handler. */
#ifndef SC_INTERPOSE_GRAPH_HOST_NODES_H
#define SC_INTERPOSE_GRAPH_HOST_NODES_H

#include <stdbool.h>

#include "interpose/driver/driver.h"

struct sc_watched_node;

/* Gives the exec's node our function. The exec has just been made, and knows the node by its own
 * name. False: the driver will call the program's function. */
bool sc_host_nodes_watch(CUgraphExec exec, CUgraphNode node);

/* Around the call that gives the exec's node another function. Begin replaces the function and its
 * argument by ours, and returns what end is to be told. NULL: the program's stay, and are passed
 * on. */
struct sc_watched_node *sc_host_nodes_begin_change(CUgraphExec exec, CUgraphNode node,
                                                   CUhostFn *function, void **data);
void sc_host_nodes_end_change(CUgraphExec exec, CUgraphNode node, struct sc_watched_node *changed,
                              CUresult result);

#endif
