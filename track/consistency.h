/* Do the tracker's lists, and what is counted of them, agree? For SC_CHECK and SC_CHECK_OF of
 * common/checks.h, after a change; builds without checks have none of it. A list that does not
 * agree fails an assertion. Those that look at one record look at its neighbours; others walk a
 * list.
 *
 * Locks: every function needs the owner's lock. */
#ifndef SC_TRACK_CONSISTENCY_H
#define SC_TRACK_CONSISTENCY_H

#include <stdint.h>

struct sc_graph;
struct sc_graphs;
struct sc_holds;
struct sc_inflight;
struct sc_order;
struct sc_spans;

#ifdef SC_DEBUG

/* An operation, in the lists of its range, of its stream and of busy streams. */
void sc_consistency_of_op(struct sc_inflight *inflight, uint32_t op);

/* The list of operations of this range, or other home, and what is counted of them. */
void sc_consistency_of_range(struct sc_inflight *inflight, uint32_t range);

/* The stream's operations, of which those that are retained come first. */
void sc_consistency_of_stream(struct sc_inflight *inflight, uint32_t stream);

/* The stream's numbers. */
void sc_consistency_of_order(struct sc_order *order, uint32_t stream);

/* The list of holds, and their bytes. */
void sc_consistency_of_holds(struct sc_holds *holds);

/* What is counted of the graph's uses, its holes, and the lists of its intervals. */
void sc_consistency_of_graph(struct sc_graphs *graphs, const struct sc_graph *graph);

/* The lists of spans to be told of, and their counts. */
void sc_consistency_of_spans(struct sc_spans *spans);

#endif

#endif
