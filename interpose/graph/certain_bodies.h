/* Which body of a conditional node runs in every launch, come what may.
 *
 * Only kernels set conditions. So a body is certain to run if a launch begins with the value that
 * chooses the body, and no kernel runs before the node: none stands before or beside it.
 *
 * Locks: none is held. Not for a signal handler: the driver is called.
 */
#ifndef SC_INTERPOSE_GRAPH_CERTAIN_BODIES_H
#define SC_INTERPOSE_GRAPH_CERTAIN_BODIES_H

#include "interpose/driver/driver.h"

/* Of a conditional node of the outermost graph. NULL: none is, or that is not known. Nobody changes
 * the graph meanwhile. */
CUgraph sc_certain_bodies_of(CUgraph graph, CUgraphNode node);

#endif
