/* What the nodes of an exec do with host memory.
 *
 * When an exec is made or updated, the driver is asked for the nodes of the graph: calls that
 * nobody saw may have changed their parameters. The graph's own uses of the same bytes say who made
 * a node.
 *
 * Needs: the driver can be asked (sc_driver_nodes_can_be_asked), and nobody changes the graph.
 * Locks: the tracker's inside. Not for a signal handler. errno may change.
 */
#ifndef SC_INTERPOSE_GRAPH_EXEC_USES_H
#define SC_INTERPOSE_GRAPH_EXEC_USES_H

#include <stdbool.h>

#include "interpose/driver/driver.h"

struct sc_graph_call;
struct sc_stack_sources;

/* The driver has made the call's exec from the graph. Its nodes bear the names of the graph's. */
void sc_exec_uses_note_made(const struct sc_graph_call *call, CUgraph graph,
                            const struct sc_stack_sources *redirects);

/* The driver has updated the call's exec by the graph. Its nodes keep their names. */
void sc_exec_uses_note_updated(const struct sc_graph_call *call, CUgraph graph,
                               const struct sc_stack_sources *redirects);

/* A node of the exec runs the child graph now. Where that node is in a body (the call says so),
 * `node` is the one around the body. */
void sc_exec_uses_note_child(const struct sc_graph_call *call, CUgraphNode node, CUgraph child);

/* A node of the exec records the event now, or waits for the event. */
void sc_exec_uses_note_event(const struct sc_graph_call *call, uintptr_t node, CUevent event,
                             bool waits);

#endif
