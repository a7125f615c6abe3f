/* Notes what the nodes of a graph do with memory, as calls make or change nodes (track/graphs.h
 * keeps it).
 *
 * Locks: none is held; the tracker's may be taken inside. Not for a signal handler. */
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
    uintptr_t stream; /* the capturing stream, or 0 */
    uint32_t stack;   /* of the call; 0: it is taken when it is needed */
    uintptr_t inner;  /* of an exec: the inner node, if the node named is the outermost node around
                         it; else 0 */
};

/* The record of a call that captures nothing. */
static inline struct sc_graph_call sc_graph_call(uintptr_t graph, const struct sc_call *by)
{
    return (struct sc_graph_call){.graph = graph, .by = by};
}

/* The node that the call changes: the inner node if there is one, else `named`. */
static inline uintptr_t sc_graph_call_node(const struct sc_graph_call *call, CUgraphNode named)
{
    return call->inner ? call->inner : (uintptr_t)named;
}

/* Notes the host range of a captured operation. */
void sc_node_uses_note(const struct sc_graph_call *call, const struct sc_host_use *named);

/* Notes the uses of device memory of a node, if they are watched. `node`: 0 if the node was
 * captured. */
void sc_node_uses_note_device(const struct sc_graph_call *call, uintptr_t node,
                              const struct sc_device_uses *uses);

/* Note a node by its parameters: a copy, a memset. */
void sc_node_uses_note_copy(const struct sc_graph_call *call, uintptr_t node,
                            const CUDA_MEMCPY3D *copy);
void sc_node_uses_note_memset(const struct sc_graph_call *call, uintptr_t node,
                              const CUDA_MEMSET_NODE_PARAMS *fill);

/* The child graph in a node's parameters, or NULL. To be asked before the driver's call, since the
 * driver may store another handle in the parameters (driver 580 does not). */
CUgraph sc_node_uses_child_of(const CUgraphNodeParams *params);
/* Notes a node of any type by its parameters. `child`: what sc_node_uses_child_of has returned. */
void sc_node_uses_note_node(const struct sc_graph_call *call, uintptr_t node,
                            const CUgraphNodeParams *params, CUgraph child);

/* Notes for the graph all that the graph `of` uses: it is a clone of `of`, or has `of` as a
 * child. */
void sc_node_uses_note_all(uintptr_t graph, CUgraph of);

/* Asks the driver what a node of this type copies or sets. The memory of a memset may be the host's
 * or the device's. False: the node is of another type, or the driver refuses. */
bool sc_node_uses_sides(CUgraphNode node, CUgraphNodeType type, struct sc_copy_sides *sides);

/* Calls visit for each side, whether the side is used or not. */
typedef void sc_visit_side(void *context, enum sc_direction direction,
                           const struct sc_copy_side *side);
void sc_node_uses_each_side(const struct sc_copy_sides *sides, sc_visit_side *visit, void *context);

/* Asks the driver what the node does, and visits its sides. */
void sc_node_uses_ask_driver(CUgraphNode node, CUgraphNodeType type, sc_visit_side *visit,
                             void *context);

/* A use of the side, without its author. */
struct sc_graph_use sc_node_uses_of_side(uintptr_t node, enum sc_direction direction,
                                         const struct sc_copy_side *side);

/* Adds the use to the call's graph, with the call as its author. */
void sc_node_uses_add(const struct sc_graph_call *call, struct sc_graph_use *use,
                      const struct sc_fold *fold);

/* Completes a use of a node that a walk has met: fills in its author, and in `extra` what few uses
 * have (a stack's frame, a copy). A child graph is asked first, if the program knows it by its
 * handle, then the graph that the exec was made of. If neither knows the use, nothing is
 * changed. */
void sc_node_uses_recognise(const struct sc_walked_graph *in, CUgraphNode node,
                            struct sc_graph_use *use, struct sc_graph_extra *extra);

/* Copies the bytes into memory that lives as long as a graph names it. A node reads the copy
 * instead of memory that will be gone. NULL: there is no memory. */
void *sc_node_uses_copy_bytes(const void *bytes, size_t size_bytes);

#endif
