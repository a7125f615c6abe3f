/* Where a node of an exec stands. */
#ifndef SC_TRACK_GRAPH_PLACE_H
#define SC_TRACK_GRAPH_PLACE_H

/* OUTERMOST: a node of the exec's own graph. INNER: a node within such a node. UNKNOWN: an inner
 * node whose place the exec has forgotten. */
enum sc_graph_place { SC_PLACE_OUTERMOST, SC_PLACE_INNER, SC_PLACE_UNKNOWN };

#endif
