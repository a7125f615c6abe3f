/* Notes what the nodes of an exec do with memory, when the exec is made or updated.
 *
 * When an exec is made or updated, the driver is asked for the nodes of the graph, since calls
 * without a wrapper may have changed their parameters. The graph's own uses of the same bytes say
 * who made a node.
 *
 * Needs: the driver can be asked (sc_driver_nodes_can_be_asked), and nobody changes the graph.
 * Locks: the tracker's inside. Not for a signal handler. errno may change. */
#ifndef SC_INTERPOSE_GRAPH_EXEC_USES_H
#define SC_INTERPOSE_GRAPH_EXEC_USES_H

#include <stdbool.h>

#include "interpose/driver/driver.h"

struct sc_graph_call;
struct sc_stack_sources;

/* Notes the exec of the call, which the driver has made from the graph. The exec's nodes have the
 * names of the graph's nodes. `redirects`: the nodes that read copies of stacks meanwhile. */
void sc_exec_uses_note_made(const struct sc_graph_call *call, CUgraph graph,
                            const struct sc_stack_sources *redirects);

/* Notes the exec of the call, which the driver has updated by the graph. The exec's nodes keep
 * their names. */
void sc_exec_uses_note_updated(const struct sc_graph_call *call, CUgraph graph,
                               const struct sc_stack_sources *redirects);

/* Notes that a node of the exec runs the child graph now. If that node is an inner one (`call`
 * names it), `node` is the outermost node around it. */
void sc_exec_uses_note_child(const struct sc_graph_call *call, CUgraphNode node, CUgraph child);

/* Notes that a node of the exec records the event now, or with `waits` waits for it. */
void sc_exec_uses_note_event(const struct sc_graph_call *call, uintptr_t node, CUevent event,
                             bool waits);

#endif
