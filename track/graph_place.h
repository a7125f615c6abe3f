/* Where a node of an exec stands: in the exec's own graph, or in a graph within that. */

/* Terms (docs/glossary.md):
 *   body: a graph in a conditional node
 *   exec: an instantiated graph (CUgraphExec)
 */

#ifndef SC_TRACK_GRAPH_PLACE_H
#define SC_TRACK_GRAPH_PLACE_H

/* SC_PLACE_OUTERMOST: in the exec's own graph. SC_PLACE_INNER: in a child graph or a body (a graph
 * within a conditional node), inside of a node of the exec's own graph. SC_PLACE_UNKNOWN: inside of
 * some node, but the exec (instantiated graph) no longer knows which. */
enum sc_graph_place { SC_PLACE_OUTERMOST, SC_PLACE_INNER, SC_PLACE_UNKNOWN };

#endif
