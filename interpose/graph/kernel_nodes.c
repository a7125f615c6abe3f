#include "interpose/graph/kernel_nodes.h"

#include "interpose/base/process.h"
#include "interpose/driver/kernel_parameters.h"
#include "interpose/driver/replaying.h"
#include "interpose/graph/device_nodes.h"
#include "interpose/graph/node_uses.h"
#include "report/options.h"
#include "track/device_use.h"
#include "track/graph_place.h"
#include "track/graphs.h"
#include "track/track.h"

#include "track/poison.h"

/* The driver has copied the parameters, or just read them. Where calls pass the wrappers by, a node
 * may have changed unseen. */
static void add(const struct sc_graph_call *call, uintptr_t name,
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

/* A kernel that is no function is of a library, and found by either handle. */
void sc_kernel_nodes_note(const struct sc_graph_call *call, uintptr_t name, CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS params;
    if (sc_options.kernels == SC_KERNELS_OFF || !sc_real.cuGraphKernelNodeGetParams_v2 ||
        sc_real.cuGraphKernelNodeGetParams_v2(node, &params) != CUDA_SUCCESS)
        return;
    add(call, name,
        &(struct sc_kernel_node_given){params.func ? params.func : (CUfunction)params.kern,
                                       params.kernelParams, params.extra});
}

void sc_kernel_nodes_changed(uintptr_t exec, uintptr_t name,
                             const struct sc_kernel_node_given *given)
{
    uintptr_t outer;
    if (sc_options.kernels == SC_KERNELS_OFF || !sc_active())
        return;
    if (SC_TRACKED(sc_graphs_place_of(track.graphs, exec, name, &outer)) != SC_PLACE_OUTERMOST) {
        SC_TRACKED(
            sc_graphs_drop_addresses(track.graphs, exec, outer)); /* of all inner ones, with 0 */
        return;
    }
    SC_TRACKED(sc_graphs_drop_node(track.graphs, exec, name));
    add(&(struct sc_graph_call){.graph = exec}, name, given);
}
