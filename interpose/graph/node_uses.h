/* What the nodes of a graph do with host memory, noted as calls make or change them
 * (track/graphs.h keeps it).
 *
 * Locks: none of its own; the tracker's inside.
 */
#ifndef SC_INTERPOSE_GRAPH_NODE_USES_H
#define SC_INTERPOSE_GRAPH_NODE_USES_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/driver/call.h"
#include "interpose/driver/driver.h"
#include "interpose/graph/copy_sides.h"
#include "track/hazard.h"

struct sc_op_info;
struct sc_graph_use;
struct sc_graph_extra;
struct sc_walked_graph;
struct sc_fold;

/* A call that makes or changes a node. */
struct sc_graph_call {
    uintptr_t graph;
    const struct sc_call *by;
    uintptr_t stream; /* that captures, or 0 */
};

/* The node's graph stands in no capture. */
static inline struct sc_graph_call sc_graph_call(uintptr_t graph, const struct sc_call *by)
{
    return (struct sc_graph_call){graph, by, 0};
}

/* A captured operation. */
void sc_node_uses_note(const struct sc_graph_call *call, const struct sc_op_info *op);

/* A node by its parameters. */
void sc_node_uses_note_copy(const struct sc_graph_call *call, uintptr_t node,
                            const CUDA_MEMCPY3D *copy);
void sc_node_uses_note_memset(const struct sc_graph_call *call, uintptr_t node,
                              const CUDA_MEMSET_NODE_PARAMS *fill);
/* `child` is what sc_node_uses_child_of said before the call (driver 580 stores no other handle
 * there, a later one may: that of the node's own graph). NULL: the node is none of a child graph.
 */
CUgraph sc_node_uses_child_of(const CUgraphNodeParams *params);
void sc_node_uses_note_node(const struct sc_graph_call *call, uintptr_t node,
                            const CUgraphNodeParams *params, CUgraph child);

/* What the other graph names, too: a clone, a child. */
void sc_node_uses_note_all(uintptr_t graph, CUgraph of);

/* What a memset node does with memory of which nothing may be known. */
struct sc_copy_side sc_node_uses_box_of_memset(const CUDA_MEMSET_NODE_PARAMS *fill);

/* A use of which it is not known yet who made it, and one that the call has made. */
struct sc_graph_use sc_node_uses_bare(uintptr_t node, enum sc_direction direction,
                                      const struct sc_copy_side *box);
void sc_node_uses_add(const struct sc_graph_call *call, struct sc_graph_use *use,
                      const struct sc_fold *fold);

/* Fills in who made the use of a node that a walk has met, and what few uses have. A child graph
 * that the program knows by its handle is asked first, then the base. Neither knows: nothing is
 * changed. */
void sc_node_uses_recognise(const struct sc_walked_graph *in, CUgraphNode node,
                            struct sc_graph_use *use, struct sc_graph_extra *extra);

/* Memory for as long as a graph names it, with a copy of the bytes: what a node reads instead of
 * memory that will be gone. NULL: there is none. */
void *sc_node_uses_keep(const void *bytes, size_t size_bytes);

#endif
