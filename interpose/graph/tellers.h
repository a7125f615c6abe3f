/* Nodes that tell the host, in a way that is seen, what part of a launch is done: records of
 * events, and host nodes that are watched (interpose/graph/host_nodes.h).
 *
 * A node tells of the nodes before it, by the edges. A launch numbers its operations one after the
 * other, and an event stands for all numbers up to one. So the nodes are put into steps
 * (track/told.h), and a teller tells of the steps up to one. In two branches, each of two tellers
 * tells of nodes that the other does not tell of. Then one teller's nodes get a step, and the nodes
 * that only the other one tells of are not judged.
 *
 * A child graph tells as its node if a node in it records an event. Nodes in it before that node
 * are not judged (interpose/graph/unjudged.h).
 *
 * Locks: none. Not for a signal handler: the driver is called.
 */
#ifndef SC_INTERPOSE_GRAPH_TELLERS_H
#define SC_INTERPOSE_GRAPH_TELLERS_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

/* The caller's functions. `put_in_step` puts the node into the step, and returns whether the node
 * names host memory; step 0 takes the node out of its step. `tells` says that the teller tells of
 * the steps up to `step`. */
struct sc_tellers {
    void *context;
    bool (*is_teller)(void *context, CUgraphNode node);
    bool (*put_in_step)(void *context, CUgraphNode node, unsigned step);
    void (*tells)(void *context, CUgraphNode node, unsigned step); /* 0: it tells of none */
    void (*unjudge)(void *context, CUgraphNode node);
};

/* Finds the steps of a graph. `nodes` are all its nodes; the driver is asked for the edges. If that
 * takes too long, no node that is told of is judged. False: there is no memory, and the functions
 * were called for no node, or for some only. */
bool sc_tellers_each(const CUgraphNode *nodes, size_t count, const struct sc_tellers *tellers);

#endif
