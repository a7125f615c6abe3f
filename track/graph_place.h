/* Where a node of an exec stands. */
#ifndef SC_TRACK_GRAPH_PLACE_H
#define SC_TRACK_GRAPH_PLACE_H

/* Among the nodes that the exec itself has, or within one of them. UNKNOWN: within one, and the
 * exec has lost its name. */
enum sc_graph_place { SC_PLACE_OUTERMOST, SC_PLACE_INNER, SC_PLACE_UNKNOWN };

#endif
