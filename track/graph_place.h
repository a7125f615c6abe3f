/* Where a node of an exec stands: in the exec's own graph, or in a graph within that. */
#ifndef SC_TRACK_GRAPH_PLACE_H
#define SC_TRACK_GRAPH_PLACE_H

/* OUTERMOST: in the exec's own graph. INNER: in a child graph or a body, within a node of the own
 * graph. UNKNOWN: inner, and within which node the exec has forgotten. */
enum sc_graph_place { SC_PLACE_OUTERMOST, SC_PLACE_INNER, SC_PLACE_UNKNOWN };

#endif
