/* Notes what the nodes of an exec do with memory, when the exec is made or updated.
 *
 * The driver is asked for the nodes of the graph, since calls without a wrapper may have changed
 * their parameters. The call that added a node is taken from the graph's own uses of the same
 * bytes.
 *
 * Pre: the driver can be asked (sc_driver_nodes_can_be_asked), and no thread changes the graph.
 * Locks: takes the tracker's. Not for a signal handler. errno may change. */

/* Terms (docs/glossary.md):
 *   exec: an instantiated graph (CUgraphExec)
 *   redirect: to let a node of an exec read a copy instead of a stack
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_GRAPH_EXEC_USES_H
#define SC_INTERPOSE_GRAPH_EXEC_USES_H

#include <stdbool.h>

#include "interpose/driver/driver.h"

struct sc_graph_call;
struct sc_stack_sources;

/* Notes the uses of the call's exec, which the driver has made from the graph. The handles of the
 * graph's nodes name the exec's nodes as well. `redirects`: the nodes that read copies of stacks
 * while the exec is made. */
void sc_exec_uses_note_made(const struct sc_graph_call *call, CUgraph graph,
                            const struct sc_stack_sources *redirects);

/* Notes the uses of the call's exec, which the driver has updated by the graph. The exec's nodes
 * keep their names: the handles of the graph that it was made from. */
void sc_exec_uses_note_updated(const struct sc_graph_call *call, CUgraph graph,
                               const struct sc_stack_sources *redirects);

/* Notes that a node of the exec runs the child graph `child` from now on. If that node is an inner
 * one (`call` names it), `node` is the outermost node around it. */
void sc_exec_uses_note_child(const struct sc_graph_call *call, CUgraphNode node, CUgraph child);

/* Notes that a node of the exec records the event from now on, or with `waits` waits for it. */
void sc_exec_uses_note_event(const struct sc_graph_call *call, uintptr_t node, CUevent event,
                             bool waits);

#endif
