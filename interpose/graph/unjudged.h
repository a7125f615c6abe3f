/* Finds the nodes of a graph whose order with the host cannot be known. In a launch they are
 * unjudged: their memory is kept, and no hazard with them is reported.
 *
 * Some nodes tell the host how far the launch has come in a way that the library does not see, as
 * by writing a value that the host polls. The host may then know that the nodes before such a node
 * are done, and may use their memory rightly. Other nodes wait for the host, and the library does
 * not see when that ends: until then the host may write the source of a node after it. Nodes that
 * tell the host in a way that the library sees are in interpose/graph/notifiers.h.
 *
 * Locks: none. Not for a signal handler: the driver is called. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   notifier: a node that tells the host, in a way that the library sees, that earlier nodes are
 *       done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   source: the memory that a copy reads
 *   unjudged: of an operation of a graph: its order cannot be seen, so nothing about it is
 *       reported
 */

#ifndef SC_INTERPOSE_GRAPH_UNJUDGED_H
#define SC_INTERPOSE_GRAPH_UNJUDGED_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

/* Returns true if the node may tell the host how far the launch has come, by what the library does
 * not see. `type`: the node's. A batch memory operation is looked at: one that only waits tells
 * nothing. */
bool sc_unjudged_is_signal(CUgraphNode node, CUgraphNodeType type);

/* Returns true if the node may wait for the host, so that what is behind it may be ordered by that.
 * A batch memory operation that only writes does not. */
bool sc_unjudged_awaits_host(CUgraphNode node, CUgraphNodeType type);

/* Returns true if a node of this type may tell the host something or wait for it, or may have such
 * nodes within: only then are the graph's edges asked for. Pure. */
bool sc_unjudged_may_matter(CUgraphNodeType type);

/* Why a node is not to be judged: it stands before a node that tells the host how far the launch
 * has come, behind one that waits for the host, behind a host node, whether or not the library sees
 * that run, or behind one that waits for a value or a semaphore. */
enum sc_unjudged_why {
    SC_BEFORE_SIGNAL,
    SC_BEHIND_WAIT,
    SC_BEHIND_HOST_NODE,
    SC_BEHIND_UNSEEN,
};

/* Calls `unjudge` for each node of a graph that is not to be judged for this reason. `nodes`: all
 * nodes of the graph; the driver is asked for their edges. `is_seen` returns whether the library
 * sees what the telling node does; NULL: it sees nothing. Returns false if not all such nodes were
 * found; without memory it finds none. */
typedef void sc_unjudge(void *context, CUgraphNode node, enum sc_unjudged_why why);
typedef bool sc_is_seen(void *context, CUgraphNode node);
bool sc_unjudged_find(const CUgraphNode *nodes, size_t count, enum sc_unjudged_why why,
                      sc_is_seen *is_seen, sc_unjudge *unjudge, void *context);

#endif
