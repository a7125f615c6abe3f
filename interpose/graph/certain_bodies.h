/* Finds the body (the graph) of a conditional node that is certain to run in every launch. What its
 * nodes do with memory is then certain, too.
 *
 * Only kernels change conditions. So a body is certain to run if two things hold: when a launch
 * begins, the condition has the value that chooses the body; and no kernel can run before the node,
 * since all kernels of the graph come after it. A loop runs its body at least once. Within a body
 * that is certain to run, the same holds for inner conditional nodes, in the first turn of a loop.
 *
 * Locks: none is held. Not for a signal handler: the driver is called. */

/* Terms (docs/glossary.md):
 *   body: a graph in a conditional node
 */

#ifndef SC_INTERPOSE_GRAPH_CERTAIN_BODIES_H
#define SC_INTERPOSE_GRAPH_CERTAIN_BODIES_H

#include "interpose/driver/driver.h"

/* Returns the graph within a conditional node (a body) that every launch runs; NULL: none is
 * certain to run, or that is not known. Called for each conditional node of a graph when an exec is
 * made. `graph`: the node's graph, which must be the outermost graph or itself a body that every
 * launch runs. No other thread may change the graph meanwhile. */
CUgraph sc_certain_bodies_find(CUgraph graph, CUgraphNode node);

#endif
