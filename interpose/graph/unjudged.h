/* Finds the nodes of a graph whose order with the host cannot be known. They are unjudged in
 * flight: their memory is kept, and nobody is accused.
 *
 * Some nodes tell the host how far the graph has come, and the library does not see it: a node
 * before such a node may be known done already. Other nodes wait for the host, and the library does
 * not see that either: until the wait is over, the host may write the source of a node behind it.
 * Nodes that tell in a way that is seen are in interpose/graph/notifiers.h.
 *
 * Locks: none. Not for a signal handler: the driver is called. */
#ifndef SC_INTERPOSE_GRAPH_UNJUDGED_H
#define SC_INTERPOSE_GRAPH_UNJUDGED_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

/* Does the node tell the host how far the graph has come? `type`: the node's. The driver is asked
 * what a batch memory operation does: one that only waits does not tell. */
bool sc_unjudged_is_signal(CUgraphNode node, CUgraphNodeType type);

/* May the node wait for the host? A batch memory operation that only writes does not. */
bool sc_unjudged_awaits_host(CUgraphNode node, CUgraphNodeType type);

/* May a node of this type make others unjudged? Pure. */
bool sc_unjudged_may_matter(CUgraphNodeType type);

/* Does the node wait for a value or a semaphore? For host nodes and events it is known otherwise
 * whether their waits are seen. */
bool sc_unjudged_awaits_unseen(CUgraphNode node, CUgraphNodeType type);

/* Calls `unjudge` for each node of a graph that is not to be judged, at most twice for the same
 * reason. `nodes` are all nodes of the graph; the driver is asked for their edges. `is_seen`: does
 * the library see when this node tells the host? NULL: of no node. Without memory nothing is
 * called. False: not all such nodes were found. */
enum sc_unjudged_why {
    SC_BEFORE_SIGNAL,
    SC_BEHIND_WAIT,
    SC_BEHIND_HOST_NODE, /* only from sc_unjudged_behind_hosts */
    SC_BEHIND_UNSEEN,    /* only from sc_unjudged_behind_unseen */
};
typedef void sc_unjudge(void *context, CUgraphNode node, enum sc_unjudged_why why);
typedef bool sc_is_seen(void *context, CUgraphNode node);
bool sc_unjudged_each(const CUgraphNode *nodes, size_t count, sc_is_seen *is_seen,
                      sc_unjudge *unjudge, void *context);

/* The same for nodes behind a host node, whether the library sees that node run or not; and for
 * nodes behind a wait for a value or a semaphore. */
bool sc_unjudged_behind_hosts(const CUgraphNode *nodes, size_t count, sc_unjudge *unjudge,
                              void *context);
bool sc_unjudged_behind_unseen(const CUgraphNode *nodes, size_t count, sc_unjudge *unjudge,
                               void *context);

#endif
