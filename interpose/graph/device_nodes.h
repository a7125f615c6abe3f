/* What the nodes of graphs do with device memory, where that is watched (track/graphs.h). What a
 * node in the body of a conditional node does is noted as certain where the body is
 * (interpose/graph/certain_bodies.h). Elsewhere it is possible, and noted only where possible uses
 * are asked for, as those of kernels are (the option `kernels`). Left out is memory that nodes
 * allocate or free: what an address means there follows from where the nodes stand.
 *
 * Locks: the tracker's inside. Not for a signal handler: the driver is called.
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

/* Is anything to be noted? */
bool sc_device_nodes_are_asked(void);

/* A node of the call's graph does this, besides what is noted of the node already. `base` has what
 * all these uses have. */
void sc_device_nodes_add(const struct sc_graph_call *call, const struct sc_graph_use *base,
                         const struct sc_device_use *uses, unsigned count);

/* The same of a copy or memset of the call's exec, which knows the node by the name. `unsure`:
 * SC_UNSURE_LEFT_OUT where a launch may leave it out, or 0. */
void sc_device_nodes_note(const struct sc_graph_call *call, uintptr_t name,
                          const struct sc_copy_sides *sides, uint8_t unsure);

/* The exec has the node, which is of this type, and knows it by the name. When all were met, what
 * nodes do with memory that others allocate or free is left out. Where it is not known how much a
 * node frees, all of that memory is left out. */
void sc_device_nodes_meet(uintptr_t exec, uintptr_t name, CUgraphNode node, CUgraphNodeType type);
void sc_device_nodes_met_all(uintptr_t exec);

/* The same of the addresses among a kernel's parameters, of either space, where `kernels` asks for
 * them. Kernels in bodies of conditional nodes are left out: whether they run, only the device
 * knows. */
void sc_device_nodes_note_kernel(const struct sc_graph_call *call, uintptr_t name,
                                 CUgraphNode node);

/* What a kernel node of the exec was just given, whose former addresses are dropped. Which
 * addresses an inner node had is not known: those of the outermost node around it are all dropped,
 * and none is noted. */
struct sc_kernel_node_given {
    CUfunction function;
    void *const *parameters;
    void *const *extra;
};
void sc_device_nodes_kernel_changed(uintptr_t exec, uintptr_t name,
                                    const struct sc_kernel_node_given *given);

#endif
