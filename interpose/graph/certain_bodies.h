/* Finds the body of a conditional node that is certain to run in every launch, so that what its
 * nodes do with memory is certain, too.
 *
 * Only kernels set conditions. So a body is certain to run if a launch begins with the value that
 * chooses the body, and if no kernel can run before the node: all kernels stand behind it. A loop
 * runs its body at least once. In a body that is certain to run, the same is true of inner
 * conditional nodes, for the first turn of a loop: what stands behind such a node runs later.
 *
 * Locks: none is held. Not for a signal handler: the driver is called. */
#ifndef SC_INTERPOSE_GRAPH_CERTAIN_BODIES_H
#define SC_INTERPOSE_GRAPH_CERTAIN_BODIES_H

#include "interpose/driver/driver.h"

/* The body of a conditional node that runs in every launch. `graph`: the node's graph, which must
 * be the outermost graph or such a body itself. Nobody may change it meanwhile. NULL: no body is
 * certain to run, or that is not known. */
CUgraph sc_certain_bodies_find(CUgraph graph, CUgraphNode node);

#endif
