/* Nodes that are not judged in flight.
 *
 * Some nodes tell the host how far the graph has come, and others wait for the host; we see
 * neither. A node before one that tells is done when the host hears of it. The source of a node
 * behind one that waits may be written until the host lets it go. Both are left unjudged.
 */
#ifndef SC_INTERPOSE_GRAPH_UNJUDGED_H
#define SC_INTERPOSE_GRAPH_UNJUDGED_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

/* Does a node of this type tell the host how far the graph has come? */
bool sc_unjudged_is_signal(CUgraphNodeType type);

/* May the host still write what nodes behind one of this type are to read? */
bool sc_unjudged_awaits_host(CUgraphNodeType type);

/* Can a node of this type make others unjudged? */
bool sc_unjudged_may_matter(CUgraphNodeType type);

/* Calls `unjudge` for each of the graph's nodes, which are all given, that is not to be judged.
 * Asks the driver for edges. */
typedef void sc_unjudge(void *context, CUgraphNode node);
void sc_unjudged_each(const CUgraphNode *nodes, size_t count, sc_unjudge *unjudge, void *context);

#endif
