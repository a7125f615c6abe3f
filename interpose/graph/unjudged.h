/* Nodes that are not judged in flight: what they use keeps its memory, and nobody is accused.
 *
 * Some nodes signal to the host how far the graph has come, and the library does not see it. A node
 * before such a one may be known done already. Other nodes wait for the host, and the library does
 * not see that either. Until then the host may write the source of a node behind such a one. Some
 * nodes tell the host in a way that is seen (interpose/graph/tellers.h).
 *
 * Locks: none. Not for a signal handler: the driver is called.
 */
#ifndef SC_INTERPOSE_GRAPH_UNJUDGED_H
#define SC_INTERPOSE_GRAPH_UNJUDGED_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

/* Does the node, which is of this type, tell the host how far the graph has come? Of a batch memory
 * operation the driver is asked what that does: one that only waits does not tell. */
bool sc_unjudged_is_signal(CUgraphNode node, CUgraphNodeType type);

/* May the node wait for the host? A batch memory operation that only writes does not. */
bool sc_unjudged_awaits_host(CUgraphNode node, CUgraphNodeType type);

/* May a node of this type make others unjudged? Pure. */
bool sc_unjudged_may_matter(CUgraphNodeType type);

/* Does the node wait for a value or a semaphore? Of host nodes it is known elsewhere whether they
 * are seen, and of events what is waited for. */
bool sc_unjudged_awaits_unseen(CUgraphNode node, CUgraphNodeType type);

/* Calls `unjudge` for each node of a graph that is not to be judged, at most twice for a reason.
 * `nodes` are all nodes of the graph. `is_seen` says of a node that signals whether that is seen;
 * NULL: of none is it. The driver is asked for their edges. Without memory nothing is called.
 * False: not all of them were found. */
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

/* The same for each node that stands behind a host node, whether that is seen or not; and behind a
 * node that waits for a value or a semaphore. */
bool sc_unjudged_behind_hosts(const CUgraphNode *nodes, size_t count, sc_unjudge *unjudge,
                              void *context);
bool sc_unjudged_behind_unseen(const CUgraphNode *nodes, size_t count, sc_unjudge *unjudge,
                               void *context);

#endif
