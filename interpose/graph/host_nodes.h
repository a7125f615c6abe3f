/* Host nodes of execs, whose functions the driver calls by way of one of ours.
 *
 * So it is seen when the host hears that what stands before the node is done (track/heard.h). The
 * program's graph keeps the program's function: only the exec's node gets ours, as a program could
 * give it another one, when the exec has been made and before it is launched.
 *
 * Locks: none is held; the tracker's is taken inside. Not for a signal handler.
 */
#ifndef SC_INTERPOSE_GRAPH_HOST_NODES_H
#define SC_INTERPOSE_GRAPH_HOST_NODES_H

#include <stdbool.h>

#include "interpose/driver/driver.h"

struct sc_heard_node;

/* The exec has been made, and knows the host node by its own name. False: the driver goes on to
 * call the program's function. */
bool sc_host_nodes_watch(CUgraphExec exec, CUgraphNode node);

/* Around the call that gives the exec's node another function. Begin puts ours in the place of the
 * two, and returns what end is to be told; NULL: they stay. */
struct sc_heard_node *sc_host_nodes_begin_change(CUgraphExec exec, CUgraphNode node,
                                                 CUhostFn *function, void **data);
void sc_host_nodes_end_change(CUgraphExec exec, CUgraphNode node, struct sc_heard_node *changed,
                              CUresult result);

#endif
