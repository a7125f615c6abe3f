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

/* Called when the driver has made the call's exec from the graph: notes what the exec's nodes do
 * with memory. The handles of the graph's nodes name the exec's nodes as well. `redirects`: the
 * nodes that read copies of stacks while the exec was made. */
void sc_exec_uses_note_made(const struct sc_graph_call *call, CUgraph graph,
                            const struct sc_stack_sources *redirects);

/* Called when the driver has updated the call's exec by the graph: notes anew what the exec's nodes
 * do. They keep their names: the handles in the graph that the exec was first made from.
 * `redirects`: as above. */
void sc_exec_uses_note_updated(const struct sc_graph_call *call, CUgraph graph,
                               const struct sc_stack_sources *redirects);

/* Called when the program has given a node of the exec another child graph: notes what that graph's
 * nodes do. If the node that has it is an inner one (`call` names it), `node` is the outermost node
 * around it. */
void sc_exec_uses_note_child(const struct sc_graph_call *call, CUgraphNode node, CUgraph child);

/* Notes that a node of the exec records the event in each launch from now on; with `waits`, that it
 * waits for the event. Called for each such node of a new exec, and when the program gives a node
 * another event. */
void sc_exec_uses_note_event(const struct sc_graph_call *call, uintptr_t node, CUevent event,
                             bool waits);

#endif
