/* Which body of a conditional node runs in every launch, come what may.
 *
 * Only kernels set conditions. So a body is certain to run if a launch begins with the value that
 * chooses the body, and no kernel runs before the node: none stands before or beside it. A loop
 * runs its body once at least. Within a body that is certain to run the same holds, for the first
 * turn of a loop: what stands behind the node there comes later.
 *
 * Locks: none is held. Not for a signal handler: the driver is called.
 */
#ifndef SC_INTERPOSE_GRAPH_CERTAIN_BODIES_H
#define SC_INTERPOSE_GRAPH_CERTAIN_BODIES_H

#include "interpose/driver/driver.h"

/* The body of a conditional node that runs in every launch. `graph`: the node's graph, which must
 * be the outermost graph or such a body itself. Nobody may change it meanwhile. NULL: no body is
 * certain to run, or that is not known. */
CUgraph sc_certain_bodies_of(CUgraph graph, CUgraphNode node);

#endif
