/* Notes what the nodes of graphs do with device memory, with the option device=1 (track/graphs.h
 * keeps it).
 *
 * What a node in a body of a conditional node does is certain if that body is certain to run
 * (interpose/graph/certain_bodies.h). In other bodies it is only possible, and is noted only if the
 * option `kernels` asks for possible uses. Uses of memory that nodes allocate or free are not
 * noted: at different places in the graph the same address may mean different memory.
 *
 * Locks: takes the tracker's. Not for a signal handler: the driver is called. */

/* Terms (docs/glossary.md):
 *   body: a graph in a conditional node
 *   exec: an instantiated graph (CUgraphExec)
 *   inner node: a node in a child graph or a body
 *   possible use: a use that a launch may leave out: a kernel's address, a body that may not run
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_GRAPH_DEVICE_NODES_H
#define SC_INTERPOSE_GRAPH_DEVICE_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/driver/driver.h"

struct sc_copy_sides;
struct sc_device_use;
struct sc_graph_call;
struct sc_graph_use;

/* Returns true if device memory that nodes use is watched. */
bool sc_device_nodes_are_watched(void);

/* Adds uses of device memory to a node of the call's graph. `base`: what these uses have in common.
 */
void sc_device_nodes_add(const struct sc_graph_call *call, const struct sc_graph_use *base,
                         const struct sc_device_use *uses, unsigned count);

/* Adds what a copy or memset node of the call's exec does with device memory. `name`: the handle by
 * which the exec knows the node. `unsure`: SC_UNSURE_LEFT_OUT if a launch may leave the node out;
 * else 0. */
void sc_device_nodes_note(const struct sc_graph_call *call, uintptr_t name,
                          const struct sc_copy_sides *sides, uint8_t unsure);

/* Notes the memory that the node allocates or frees, if it does. Called for each node of the exec,
 * with its type and the handle by which the exec knows it (`name`). If it is not known how much a
 * node frees, no device memory of the exec is judged. After the last node,
 * sc_device_nodes_end_own_memory is called: it leaves out uses of such memory by other nodes. */
void sc_device_nodes_note_own_memory(uintptr_t exec, uintptr_t name, CUgraphNode node,
                                     CUgraphNodeType type);
void sc_device_nodes_end_own_memory(uintptr_t exec);

/* Notes the addresses of host or device memory among a kernel node's parameters, if the option
 * `kernels` asks for them. Not called for kernels in bodies of conditional nodes, since only the
 * device knows whether those run. */
void sc_device_nodes_note_kernel(const struct sc_graph_call *call, uintptr_t name,
                                 CUgraphNode node);

/* The new function and parameters that the program gives a kernel node of an exec. */
struct sc_kernel_node_given {
    CUfunction function;
    void *const *parameters;
    void *const *extra;
};
/* Drops the addresses that the changed node had, and notes those of its new parameters. It is not
 * known which addresses an inner node (in a child graph or a body) had: then all addresses of the
 * outermost node around it are dropped, and none is noted. */
void sc_device_nodes_note_kernel_change(uintptr_t exec, uintptr_t name,
                                        const struct sc_kernel_node_given *given);

#endif
