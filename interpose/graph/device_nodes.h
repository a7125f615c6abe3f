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

/* Returns true if it is to be noted what nodes do with device memory: device=1 is set, and no
 * missed call is being replayed. Lock-free. */
bool sc_device_nodes_are_watched(void);

/* Adds a node's uses of device memory to the call's graph. `base`: what these uses have in common,
 * as the node and the call that added it. Called for captured nodes and for nodes of execs. */
void sc_device_nodes_add(const struct sc_graph_call *call, const struct sc_graph_use *base,
                         const struct sc_device_use *uses, unsigned count);

/* Adds what a copy or memset node of the call's exec does with device memory. `name`: the handle by
 * which the exec knows the node. `unsure`: SC_UNSURE_LEFT_OUT if a launch may leave the node out,
 * as within a conditional node; else 0. */
void sc_device_nodes_note(const struct sc_graph_call *call, uintptr_t name,
                          const struct sc_copy_sides *sides, uint8_t unsure);

/* Notes the memory that a node of the exec allocates or frees; does nothing for other nodes.
 * `name`: the handle by which the exec knows the node. If it is not known what such a node does, no
 * device memory of the exec is judged. Called for each node; behind the last one
 * sc_graphs_end_own_memory leaves out what other nodes do with such memory. */
void sc_device_nodes_note_own_memory(uintptr_t exec, uintptr_t name, CUgraphNode node,
                                     CUgraphNodeType type);

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
/* Called when the program has changed a kernel node of an exec: drops the addresses that the node
 * had, and notes those of its new parameters. For an inner node (in a child graph or a body) drops
 * all addresses of the outermost node around it, and notes none: it is not known which were the
 * inner node's. */
void sc_device_nodes_note_kernel_change(uintptr_t exec, uintptr_t name,
                                        const struct sc_kernel_node_given *given);

#endif
