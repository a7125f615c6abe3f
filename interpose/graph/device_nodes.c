#include "interpose/graph/device_nodes.h"

#include "common/op_kinds.h"
#include "common/unsure.h"
#include "interpose/base/process.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/kernel_parameters.h"
#include "interpose/driver/replaying.h"
#include "interpose/graph/copy_sides.h"
#include "interpose/graph/node_uses.h"
#include "report/options.h"
#include "track/allocations.h"
#include "track/device_use.h"
#include "track/graph_place.h"
#include "track/graphs.h"
#include "track/track.h"
#include "track/track_front.h"

#include "common/poison.h"

/* Is it of use to ask what a node does with device memory? Not without the option device=1. Not
 * when a missed call is run through its wrapper afterwards (a replay), since calls without a
 * wrapper may have changed the node. */
bool sc_device_nodes_are_watched(void)
{
    return sc_track_watches_device(&sc_track) && !sc_replaying_is_on();
}

/* Adds a node's uses of device memory to the graph. `base` has what they have in common: the node,
 * and the call that added it. A use gets a struct sc_graph_extra only for rows with gaps (fold), or
 * for a node in a child graph or body (inner). */
void sc_device_nodes_add(const struct sc_graph_call *call, const struct sc_graph_use *base,
                         const struct sc_device_use *uses, unsigned count)
{
    SC_TRACK_SCOPE(track);
    for (unsigned i = 0; i < count; i++) {
        struct sc_graph_use use = *base;
        const struct sc_graph_extra extra = {.fold = uses[i].fold, .inner = call->inner};
        use.shape = uses[i].shape;
        use.direction = uses[i].direction;
        use.kind = SC_DEVICE;
        use.reads_device = uses[i].access != SC_DEVICE_WRITES;
        sc_graphs_add(track.graphs, call->graph, &use,
                      extra.fold.pitch_bytes || extra.inner ? &extra : NULL, NULL);
    }
}

/* Notes what a copy or memset node does with device memory. A node that a launch may leave out
 * (`unsure`) is noted only if the option `kernels` is on: then possible uses, which need not take
 * place, are judged as well. */
void sc_device_nodes_note(const struct sc_graph_call *call, uintptr_t name,
                          const struct sc_copy_sides *sides, uint8_t unsure)
{
    if (!sc_device_nodes_are_watched() || (unsure && sc_options.kernels == SC_KERNELS_OFF))
        return;
    struct sc_device_uses uses = {.count = 0};
    const struct sc_graph_use base = {.node = name, .unsure = unsure & SC_UNSURE_ALL};
    sc_copy_sides_add_device(sides, &uses);
    sc_device_nodes_add(call, &base, uses.of, uses.count);
}

/* Notes which memory an allocation node allocates, so that other nodes' uses of it are left out.
 * Returns false if the driver does not tell, or there is no room. */
static bool note_allocation(uintptr_t exec, CUgraphNode node)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    return sc_real.cuGraphMemAllocNodeGetParams &&
           sc_real.cuGraphMemAllocNodeGetParams(node, &params) == CUDA_SUCCESS &&
           SC_TRACKED(sc_graphs_note_own_memory(
               track.graphs, exec, &(struct sc_graph_own){params.dptr, params.bytesize, 0}));
}

/* Notes which memory a free node frees. The driver tells only the address. The size is that of the
 * block which the tracker knows there; 0: unknown. Returns false if the driver does not tell, or
 * there is no room. */
static bool note_free(uintptr_t exec, uintptr_t name, CUgraphNode node)
{
    CUdeviceptr address;
    if (!sc_real.cuGraphMemFreeNodeGetParams ||
        sc_real.cuGraphMemFreeNodeGetParams(node, &address) != CUDA_SUCCESS)
        return false;
    SC_TRACK_SCOPE(track);
    size_t bytes = sc_allocations_block_bytes(track.allocations, (uintptr_t)address);
    return sc_graphs_note_own_memory(track.graphs, exec,
                                     &(struct sc_graph_own){address, bytes, name});
}

/* Notes what an allocation or free node does; other nodes are none of its business. The same
 * address may mean different memory before and behind such a node. So if one of them is not known,
 * no use of device memory by the exec is judged. */
void sc_device_nodes_note_own_memory(uintptr_t exec, uintptr_t name, CUgraphNode node,
                                     CUgraphNodeType type)
{
    bool allocates = type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    if ((!allocates && type != CU_GRAPH_NODE_TYPE_MEM_FREE) || !sc_device_nodes_are_watched())
        return;
    if (!(allocates ? note_allocation(exec, node) : note_free(exec, name, node)))
        SC_TRACKED(sc_graphs_leave_out_device(track.graphs, exec));
}

/* ---- kernels ---- */

/* Adds the addresses among a kernel node's parameters as possible uses of device memory: the kernel
 * may use memory there. The parameters can be read, since the driver has just copied or returned
 * them. Not when a missed call is run through its wrapper afterwards (a replay), since calls
 * without a wrapper may have changed the node. */
static void add_addresses(const struct sc_graph_call *call, uintptr_t name,
                          const struct sc_kernel_node_given *given)
{
    const struct sc_graph_use base = {.node = name};
    struct sc_kernel_parameters read;
    if (sc_replaying_is_on())
        return;
    const struct sc_launch launch = {.function = given->function,
                                     .parameters = given->parameters,
                                     .extra = given->extra,
                                     .is_accepted = true};
    sc_kernel_parameters_read(&read, &launch);
    for (unsigned i = 0; i < read.count; i++) {
        const struct sc_device_use use = sc_device_use_named(read.addresses[i]);
        sc_device_nodes_add(call, &base, &use, 1);
    }
}

/* Asks the driver for a kernel node's parameters, and notes the addresses among them, if the option
 * `kernels` asks for that. A node has a CUfunction or a library's CUkernel; kernel_parameters.h
 * reads both. */
void sc_device_nodes_note_kernel(const struct sc_graph_call *call, uintptr_t name, CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS params;
    if (sc_options.kernels == SC_KERNELS_OFF || !sc_real.cuGraphKernelNodeGetParams_v2 ||
        sc_real.cuGraphKernelNodeGetParams_v2(node, &params) != CUDA_SUCCESS)
        return;
    add_addresses(
        call, name,
        &(struct sc_kernel_node_given){params.func ? params.func : (CUfunction)params.kern,
                                       params.kernelParams, params.extra});
}

/* Called when the program gives a kernel node of an exec new parameters: replaces the addresses
 * that were noted. Addresses of inner nodes (in a child graph or a body) are kept under the
 * outermost node around, without the inner one. So all of that node are dropped there, and none is
 * added. */
void sc_device_nodes_note_kernel_change(uintptr_t exec, uintptr_t name,
                                        const struct sc_kernel_node_given *given)
{
    uintptr_t outer;
    if (sc_options.kernels == SC_KERNELS_OFF || !sc_active())
        return;
    if (SC_TRACKED(sc_graphs_place_of(track.graphs, exec, name, &outer)) != SC_PLACE_OUTERMOST) {
        /* `outer` is 0 if it is not known where the node is: then those of all nodes go. */
        SC_TRACKED(sc_graphs_drop_addresses(track.graphs, exec, outer));
        return;
    }
    SC_TRACKED(sc_graphs_drop_node(track.graphs, exec, name));
    add_addresses(&(struct sc_graph_call){.graph = exec}, name, given);
}
