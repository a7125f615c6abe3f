/* Puts the nodes of a graph into stages (track/stages.h), by which nodes tell the host what part of
 * a launch is done. Such notifiers are records of events, and host nodes that are watched
 * (interpose/graph/host_nodes.h).
 *
 * A node tells of the nodes before it, by the edges. A launch numbers its operations one after the
 * other, and an event stands for all numbers up to one. So the nodes are put into stages
 * (track/stages.h), and a notifier tells of the stages up to one. In two branches, each of two
 * notifiers tells of nodes that the other does not tell of. Then one notifier's nodes get a stage,
 * and the nodes that only the other one tells of are not judged.
 *
 * A child graph tells as its node if a node in it records an event. Nodes in it before that node
 * are not judged (interpose/graph/unjudged.h).
 *
 * Locks: none. Not for a signal handler: the driver is called. */
#ifndef SC_INTERPOSE_GRAPH_NOTIFIERS_H
#define SC_INTERPOSE_GRAPH_NOTIFIERS_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

/* What the search asks of its caller, and tells it. `put_in_stage` puts a node into a stage (0:
 * takes it out again), and returns whether the node names host memory. `tells` says that a notifier
 * tells of all stages up to `stage`. */
struct sc_notifiers {
    void *context;
    bool (*is_notifier)(void *context, CUgraphNode node);
    bool (*put_in_stage)(void *context, CUgraphNode node, unsigned stage);
    void (*tells)(void *context, CUgraphNode node, unsigned stage); /* 0: it tells of none */
    void (*unjudge)(void *context, CUgraphNode node);
};

/* Finds the stages of a graph. `nodes` are all its nodes; the driver is asked for the edges. False:
 * that takes too long, or there is no memory. Then the functions were called for no node, or for
 * some only, and the caller leaves all nodes unjudged that a notifier tells of. */
bool sc_notifiers_find_stages(const CUgraphNode *nodes, size_t count,
                              const struct sc_notifiers *notifiers);

#endif
