/* Finds pairs of nodes of an exec that race: both use the same device memory, at least one writes
 * it, and no path of edges orders them (SC501). track/graphs.h keeps the pairs.
 *
 * Only the outermost graph is searched, when the exec is made or updated; a child graph counts as
 * one node.
 *
 * Locks: takes the tracker's. Not for a signal handler: the driver is called. errno may change. */

/* Terms (docs/glossary.md):
 *   exec: an instantiated graph (CUgraphExec)
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_GRAPH_DEVICE_RACES_H
#define SC_INTERPOSE_GRAPH_DEVICE_RACES_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/driver/driver.h"

struct sc_graph_call;

/* Finds the races of the exec that the call `made` has made of `graph`, and notes them with the
 * tracker, which reports them at a launch. The exec's uses are noted already. `nodes`: all nodes of
 * the graph. `name_of`: returns the handle by which the exec knows a node. Finds nothing if there
 * are too many uses, or no memory. */
typedef uintptr_t sc_name_of(const void *context, CUgraphNode node);
void sc_device_races_find(const struct sc_graph_call *made, CUgraph graph, const CUgraphNode *nodes,
                          size_t count, sc_name_of *name_of, const void *context);

#endif
