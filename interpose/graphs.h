/* The life of graphs: which host memory their nodes name, and what a launch does with it.
 *
 * Captured and added nodes are noted as they come; when an exec is made, the driver is asked for
 * the nodes, since parameters may have changed. A launch is one operation on its stream for each
 * run of host memory that the exec names. Locks: none of its own; the tracker's inside.
 */
#ifndef SC_INTERPOSE_GRAPHS_H
#define SC_INTERPOSE_GRAPHS_H

#include "interpose/boxes.h"
#include "interpose/streams.h"

enum { SC_GRAPH_DEPTH_MAX = 16 }; /* of graphs within graphs that are looked into */

/* The graph that a capture of the stream adds to; 0 if the driver does not say. */
uintptr_t sc_graphs_captured_into(struct sc_stream_record *stream);

/* A call that makes or changes a node. */
struct sc_graph_call {
    uintptr_t graph;
    const char *api;
    void *site;
    uintptr_t stream; /* that captures, or 0 */
};

void sc_graphs_note_use(const struct sc_graph_call *call, const struct sc_op_info *op);

/* The driver's nodes of the graph, in pages that the caller unmaps; NULL for none. */
CUgraphNode *sc_graphs_nodes(CUgraph graph, size_t *count);

/* Can the driver be asked for nodes and what they do? */
bool sc_graphs_can_ask(void);

/* What a memset node does with memory of which nothing may be known. */
struct sc_box sc_graphs_box_of_memset(const CUDA_MEMSET_NODE_PARAMS *fill);

/* A capture that failed leaves no graph. */
void sc_graphs_capture_failed(uintptr_t graph);

/* Does the frame that a use on a stack lies in still run? Told by its return address. */
bool sc_graphs_frame_lives(const struct sc_graph_use *use, const struct sc_graph_extra *extra);

/* The same; and if so, the copy of a source is brought up to date. */
bool sc_graphs_refresh(const struct sc_graph_use *use, const struct sc_graph_extra *extra);

/* Memory for as long as a graph names it, with a copy of the bytes: what a node reads instead of
 * memory that will be gone. NULL: there is none. */
void *sc_graphs_keep(const void *bytes, size_t size_bytes);

#endif
