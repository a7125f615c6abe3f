/* Notes what the nodes of a graph do with memory, as calls add or change nodes (track/graphs.h
 * keeps it).
 *
 * Locks: none is held; the tracker's may be taken. Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   author: the call that captured, added or changed a node of a graph
 *   body: a graph in a conditional node
 *   exec: an instantiated graph (CUgraphExec)
 *   inner node: a node in a child graph or a body
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
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

/* A call that adds or changes nodes of a graph or an exec (an instantiated graph). A report names
 * it as the author of what the nodes use. */
struct sc_graph_call {
    uintptr_t graph;
    const struct sc_call *by;
    uintptr_t stream; /* the handle of the capturing stream, or 0 */
    uint32_t stack;   /* of the call; 0: not taken yet */
    /* of an exec: the inner node (in a child graph or a body) that the call names; then functions
     * are given the outermost node around it. Else 0 */
    uintptr_t inner;
};

/* Returns the record for a call that names the graph itself, and captures nothing. */
static inline struct sc_graph_call sc_graph_call(uintptr_t graph, const struct sc_call *by)
{
    return (struct sc_graph_call){.graph = graph, .by = by};
}

/* Returns the handle of the node that the call changes: of an inner node (in a child graph or a
 * body) if the call names one, else of `named`. */
static inline uintptr_t sc_graph_call_node(const struct sc_graph_call *call, CUgraphNode named)
{
    return call->inner ? call->inner : (uintptr_t)named;
}

/* Called when a stream has captured an operation: adds what it does with one piece of host memory
 * to the graph. */
void sc_node_uses_note(const struct sc_graph_call *call, const struct sc_host_use *named);

/* Adds a node's uses of device memory to the graph, if they are watched (device=1). `node`: 0 if
 * the node was captured, since its handle is not known. */
void sc_node_uses_note_device(const struct sc_graph_call *call, uintptr_t node,
                              const struct sc_device_uses *uses);

/* Called before a copy or memset node is added or changed (any node: begin_node), with the
 * parameters of the call, or NULL: end registrations of its memory that the program has ended and
 * the library has kept, since the node would be bound to them (sc_reaper_end_registrations). */
void sc_node_uses_begin_copy(const CUDA_MEMCPY3D *copy);
void sc_node_uses_begin_memset(const CUDA_MEMSET_NODE_PARAMS *fill);
void sc_node_uses_begin_node(const CUgraphNodeParams *params);

/* Called when a copy or memset node was added or changed: add what it does with memory to the
 * graph, by the parameters of the call. */
void sc_node_uses_note_copy(const struct sc_graph_call *call, uintptr_t node,
                            const CUDA_MEMCPY3D *copy);
void sc_node_uses_note_memset(const struct sc_graph_call *call, uintptr_t node,
                              const CUDA_MEMSET_NODE_PARAMS *fill);

/* Returns the child graph in a node's parameters, or NULL. To be called before the driver's call,
 * since the driver may store another handle in the parameters (driver 580 does not). */
CUgraph sc_node_uses_child_of(const CUgraphNodeParams *params);
/* Notes what a node of any type does with memory, by its parameters. `child`: what
 * sc_node_uses_child_of has returned. */
void sc_node_uses_note_node(const struct sc_graph_call *call, uintptr_t node,
                            const CUgraphNodeParams *params, CUgraph child);

/* Notes for the graph all that the graph `of` uses: the graph is a clone of `of`, or has `of` as a
 * child. */
void sc_node_uses_note_all(uintptr_t graph, CUgraph of);

/* Asks the driver what memory a copy or memset node of this type uses, and stores it as the sides
 * of a copy. The destination of a memset may be host or device memory. Returns false if the node is
 * of another type, or the driver refuses. */
bool sc_node_uses_sides(CUgraphNode node, CUgraphNodeType type, struct sc_copy_sides *sides);

/* Calls `visit` for the source and the destination, also for an unused one; a memset has no
 * source. */
typedef void sc_visit_side(void *context, enum sc_direction direction,
                           const struct sc_copy_side *side);
void sc_node_uses_each_side(const struct sc_copy_sides *sides, sc_visit_side *visit, void *context);

/* Asks the driver what a copy or memset node uses, and calls `visit` for each side. Does nothing
 * for nodes of other types. */
void sc_node_uses_ask_driver(CUgraphNode node, CUgraphNodeType type, sc_visit_side *visit,
                             void *context);

/* Returns what a node does with the memory of one side of its copy, as a use without its author
 * (the call that added the node). */
struct sc_graph_use sc_node_uses_of_side(uintptr_t node, enum sc_direction direction,
                                         const struct sc_copy_side *side);

/* Adds a use of host memory to the call's graph, with the call as its author. A source on a stack
 * of the calling thread gets a copy, which nodes then read. `fold`: the gaps within the shape's
 * rows. */
void sc_node_uses_add(const struct sc_graph_call *call, struct sc_graph_use *use,
                      const struct sc_fold *fold);

/* Fills in who added a node of an exec, since the driver tells what memory the node uses but not
 * that: the author, and in `extra` what few uses have (a stack's frame, a copy). Looks for the same
 * use in the child graph, if the program knows that by its handle, and then in the graph that the
 * exec was made of. If neither has such a use, changes nothing. */
void sc_node_uses_recognise(const struct sc_walked_graph *in, CUgraphNode node,
                            struct sc_graph_use *use, struct sc_graph_extra *extra);

/* Copies the bytes into memory that lives as long as a graph uses it, for a node to read instead of
 * a stack whose function may return before the launch. Returns the copy; NULL: no memory. */
void *sc_node_uses_copy_bytes(const void *bytes, size_t size_bytes);

#endif
