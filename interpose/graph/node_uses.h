/* What the nodes of a graph do with memory, noted as calls make or change them
 * (track/graphs.h keeps it).
 *
 * Locks: none is held; the tracker's may be taken inside. Not for a signal handler.
 */
#ifndef SC_INTERPOSE_GRAPH_NODE_USES_H
#define SC_INTERPOSE_GRAPH_NODE_USES_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/driver/call.h"
#include "interpose/driver/driver.h"

enum sc_direction;
struct sc_copy_side;
struct sc_copy_sides;
struct sc_device_uses;
struct sc_fold;
struct sc_graph_extra;
struct sc_graph_use;
struct sc_host_use;
struct sc_walked_graph;

/* A call that makes or changes a node. */
struct sc_graph_call {
    uintptr_t graph;
    const struct sc_call *by;
    uintptr_t stream; /* that captures, or 0 */
    uint32_t stack;   /* of the call; 0: it is taken where it is wanted */
    uintptr_t inner;  /* of an exec, where the node named is the outermost around it; or 0 */
};

/* A call that captures nothing. */
static inline struct sc_graph_call sc_graph_call(uintptr_t graph, const struct sc_call *by)
{
    return (struct sc_graph_call){.graph = graph, .by = by};
}

/* The node itself that the call changes, where `named` is the one that it is told of by. */
static inline uintptr_t sc_graph_call_node(const struct sc_graph_call *call, CUgraphNode named)
{
    return call->inner ? call->inner : (uintptr_t)named;
}

/* Notes a captured operation. */
void sc_node_uses_note(const struct sc_graph_call *call, const struct sc_host_use *named);

/* The same of device memory, where it is watched; `node`: 0 where it was captured. */
void sc_node_uses_note_device(const struct sc_graph_call *call, uintptr_t node,
                              const struct sc_device_uses *uses);

/* Note a node by its parameters. */
void sc_node_uses_note_copy(const struct sc_graph_call *call, uintptr_t node,
                            const CUDA_MEMCPY3D *copy);
void sc_node_uses_note_memset(const struct sc_graph_call *call, uintptr_t node,
                              const CUDA_MEMSET_NODE_PARAMS *fill);

/* The same, of any type. `child` is what sc_node_uses_child_of said before the call: the driver may
 * store another handle in the parameters (driver 580 does not). NULL: the node has no child graph.
 */
void sc_node_uses_note_node(const struct sc_graph_call *call, uintptr_t node,
                            const CUgraphNodeParams *params, CUgraph child);
CUgraph sc_node_uses_child_of(const CUgraphNodeParams *params);

/* The graph names from now on what the other graph names: that is a clone's, or a child's. */
void sc_node_uses_note_all(uintptr_t graph, CUgraph of);

/* What a node of this type copies or sets, as the driver says. Nothing is known of the memory of a
 * memset: it may be the device's. False: the node is of another type, or the driver refuses. */
bool sc_node_uses_sides(CUgraphNode node, CUgraphNodeType type, struct sc_copy_sides *sides);

/* Calls visit for each side, whether the side is used or not. */
typedef void sc_visit_side(void *context, enum sc_direction direction,
                           const struct sc_copy_side *side);
void sc_node_uses_each_side(const struct sc_copy_sides *sides, sc_visit_side *visit, void *context);

/* Both: asks the driver, and visits what it says. */
void sc_node_uses_ask(CUgraphNode node, CUgraphNodeType type, sc_visit_side *visit, void *context);

/* A use of which it is not known yet who made it. */
struct sc_graph_use sc_node_uses_bare(uintptr_t node, enum sc_direction direction,
                                      const struct sc_copy_side *side);

/* Adds a use that the call has made to the call's graph. */
void sc_node_uses_add(const struct sc_graph_call *call, struct sc_graph_use *use,
                      const struct sc_fold *fold);

/* Fills in who made the use of a node that a walk has met, and what few uses have. A child graph
 * that the program knows by its handle is asked first, then the base. Neither knows: nothing is
 * changed. */
void sc_node_uses_recognise(const struct sc_walked_graph *in, CUgraphNode node,
                            struct sc_graph_use *use, struct sc_graph_extra *extra);

/* Memory for as long as a graph names it, with a copy of the bytes. A node reads it instead of
 * memory that will be gone. NULL: there is none. */
void *sc_node_uses_keep(const void *bytes, size_t size_bytes);

#endif
