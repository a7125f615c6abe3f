/* Addresses among the parameters of an exec's kernel nodes, where `kernels` asks for them
 * (track/graphs.h). Kernels in bodies of conditional nodes are left out: whether they run,
 * only the device knows.
 *
 * Locks: the tracker's inside. Not for a signal handler: the driver is called.
 */
#ifndef SC_INTERPOSE_GRAPH_KERNEL_NODES_H
#define SC_INTERPOSE_GRAPH_KERNEL_NODES_H

#include <stdint.h>

#include "interpose/driver/driver.h"

struct sc_graph_call;

/* The node, which the call's exec knows by the name, is the exec's. Nothing happens where the
 * option is off. */
void sc_kernel_nodes_note(const struct sc_graph_call *call, uintptr_t name, CUgraphNode node);

/* What a node of the exec was just given, whose former addresses are dropped. Of an inner node it
 * is not known which these were: all of the outermost node around it are, and none is noted. */
struct sc_kernel_node_given {
    CUfunction function;
    void *const *parameters;
    void *const *extra;
};
void sc_kernel_nodes_changed(uintptr_t exec, uintptr_t name,
                             const struct sc_kernel_node_given *given);

#endif
