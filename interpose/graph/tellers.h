/* Nodes that tell the host, in a way that is seen, what of the launch is done: records of events,
 * and host nodes that are watched (interpose/graph/host_nodes.h).
 *
 * A node tells of what stands before it in the graph, by the edges. A launch numbers its operations
 * one after the other, and an event stands for all numbers up to one. So what is told is put into
 * steps (track/told.h), each of which some node tells of in addition to the steps before it.
 * In two branches each of two nodes tells of what the other one does not. Then one of them gets a
 * step. What only the other one tells of is not judged.
 *
 * A child graph tells as its node if a node in it records an event. What stands in it before that
 * node is not judged (interpose/graph/unjudged.h).
 *
 * Locks: none. Not for a signal handler: the driver is called.
 */
#ifndef SC_INTERPOSE_GRAPH_TELLERS_H
#define SC_INTERPOSE_GRAPH_TELLERS_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

/* What is found of a graph. `of` says that the node is of the step, and returns whether the node
 * names host memory; step 0 takes the node's step away. */
struct sc_tellers {
    void *context;
    bool (*is_teller)(void *context, CUgraphNode node);
    bool (*of)(void *context, CUgraphNode node, unsigned step);
    void (*tells)(void *context, CUgraphNode node, unsigned step); /* up to it; 0: of nothing */
    void (*unjudge)(void *context, CUgraphNode node);
};

/* Finds the steps. `nodes` are all nodes of the graph. The driver is asked for the edges. Where
 * that takes too long, all that is told of is not judged. False: there is no memory, and nothing
 * was called, or not everything. */
bool sc_tellers_each(const CUgraphNode *nodes, size_t count, const struct sc_tellers *tellers);

#endif
