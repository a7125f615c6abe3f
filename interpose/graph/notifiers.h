/* Divides the nodes of a graph into stages (track/stages.h). A notifier is a node that tells the
 * host, while the launch goes on, that the nodes before it are done: a record of an event, or a
 * host node that is watched (interpose/graph/host_nodes.h).
 *
 * When a notifier has run, the host may know that all nodes from which edges lead to it are done.
 * But a launch numbers its operations one after the other, and an event stands for all numbers up
 * to one. So the nodes are put into stages such that each notifier tells the host of all stages up
 * to one. Of two notifiers in parallel branches, each notifies of nodes that the other does not.
 * Then the nodes of one of them get a stage, and those that only the other one notifies of are not
 * judged.
 *
 * A node with a child graph counts as a notifier if a node in the child graph records an event. The
 * nodes before that one in the child graph are not judged (interpose/graph/unjudged.h).
 *
 * Locks: none. Not for a signal handler: the driver is called. */

/* Terms (docs/glossary.md):
 *   not judged: of a touch or operation: it got no verdict; counted by reason
 *   notifier: a node that tells the host, in a way that the library sees, that earlier nodes are
 *       done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   stage: the part of a graph's nodes that one notifier tells the host of
 *   unjudged: of an operation of a graph: its order cannot be seen, so nothing about it is
 *       reported
 */

#ifndef SC_INTERPOSE_GRAPH_NOTIFIERS_H
#define SC_INTERPOSE_GRAPH_NOTIFIERS_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

/* The functions that the search calls. `is_notifier`: does the node tell the host, in a way that
 * the library sees, that earlier nodes are done? `put_in_stage` puts a node into a stage (0: takes
 * it out again), and returns whether the node uses memory. `tells` notes that the host knows all
 * stages up to `stage` to be done when this notifier has run. `unjudge` says that nothing is to be
 * reported of the node, since it may run longer than the host hears. */
struct sc_notifiers {
    void *context;
    bool (*is_notifier)(void *context, CUgraphNode node);
    bool (*put_in_stage)(void *context, CUgraphNode node, unsigned stage);
    void (*tells)(void *context, CUgraphNode node, unsigned stage); /* 0: it notifies of none */
    void (*unjudge)(void *context, CUgraphNode node);
};

/* Finds the stages of a graph, when an exec is made of it. `nodes`: all its nodes; the driver is
 * asked for the edges. Returns false if that would take too long, or there is no memory. Then the
 * functions were called for some nodes only, and the caller has to leave all nodes before notifiers
 * unjudged. */
bool sc_notifiers_find_stages(const CUgraphNode *nodes, size_t count,
                              const struct sc_notifiers *notifiers);

#endif
