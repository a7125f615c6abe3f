#include "interpose/graph/kernel_nodes.h"

#include "interpose/base/process.h"
#include "interpose/driver/kernel_parameters.h"
#include "interpose/driver/replaying.h"
#include "report/options.h"
#include "track/graph_place.h"
#include "track/graphs.h"
#include "track/track.h"

#include "track/poison.h"

/* The driver has copied the parameters, or just read them. Where calls pass the wrappers by, a node
 * may have changed unseen. */
static void add(uintptr_t exec, uintptr_t name, const struct sc_kernel_node_given *given)
{
    struct sc_kernel_parameters read;
    if (sc_replaying_is_on())
        return;
    const struct sc_launch launch = {.function = given->function,
                                     .parameters = given->parameters,
                                     .extra = given->extra,
                                     .is_accepted = true};
    sc_kernel_parameters_read(&read, &launch);
    SC_TRACK_SCOPE(track);
    for (unsigned i = 0; i < read.count; i++)
        sc_graphs_add_address(track.graphs, exec, name, read.addresses[i]);
}

/* A kernel that is no function is of a library, and found by either handle. */
void sc_kernel_nodes_note(uintptr_t exec, uintptr_t name, CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS params;
    if (sc_options.kernels == SC_KERNELS_OFF || !sc_real.cuGraphKernelNodeGetParams_v2 ||
        sc_real.cuGraphKernelNodeGetParams_v2(node, &params) != CUDA_SUCCESS)
        return;
    add(exec, name,
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
    add(exec, name, given);
}
