/* Assertions of debug builds that the tracker's lists agree with the counts that are kept of them.
 * SC_CHECK and SC_CHECK_OF (common/checks.h) call these functions after a change; other builds
 * contain nothing of them. Functions for one record check the record and its neighbours; the others
 * walk a whole list.
 *
 * Locks: every function needs the tracker's lock. */

/* Terms (docs/glossary.md):
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   range: host memory that the driver knows: one allocation or one registration
 *   retained: complete and not known done, and kept so that latent hazards are found
 *   span: a run of pages that one operation wants protected
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

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

/* Checks an operation's links in the lists of its range, of its stream and of busy streams. */
void sc_consistency_of_op(struct sc_inflight *inflight, uint32_t op);

/* Checks the list of operations of this range (or of the records for no range and for device
 * memory), and its counts. */
void sc_consistency_of_range(struct sc_inflight *inflight, uint32_t range);

/* Checks the stream's list of operations, in which those that were seen complete (retained) come
 * first. */
void sc_consistency_of_stream(struct sc_inflight *inflight, uint32_t stream);

/* Checks that the stream's numbers and ties fit together: what is done was issued, and so on. */
void sc_consistency_of_order(struct sc_order *order, uint32_t stream);

/* Checks the list of holds (memory kept after a free), and the sum of their bytes. */
void sc_consistency_of_holds(struct sc_holds *holds);

/* Checks the counts of the graph's uses (what one node does with one piece of memory), of the empty
 * places in their list, and the lists of uses by memory. */
void sc_consistency_of_graph(struct sc_graphs *graphs, const struct sc_graph *graph);

/* Checks the lists of spans (runs of pages) whose system call is still to be made, and their
 * counts. */
void sc_consistency_of_spans(struct sc_spans *spans);

#endif

#endif
