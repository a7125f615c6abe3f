#include "interpose/graph/device_nodes.h"

#include "interpose/base/process.h"
#include "interpose/driver/replaying.h"
#include "report/options.h"
#include "track/device_use.h"
#include "track/graph_device.h"
#include "track/hazard.h"
#include "track/track.h"
#include "track/track_device.h"
#include "track/track_graphs.h"
#include "track/track_views.h"

#include "track/poison.h"

/* Where calls pass the wrappers by, a node may have changed unseen. */
bool sc_device_nodes_are_asked(void)
{
    return sc_track_watches_device(&sc_track) && !sc_replaying_is_on();
}

static void add_side(struct sc_device_uses *uses, const struct sc_copy_side *side,
                     enum sc_direction direction, enum sc_device_access access)
{
    sc_device_uses_add(uses, &(struct sc_device_use){.shape = side->shape,
                                                     .fold = side->fold,
                                                     .direction = direction,
                                                     .access = access});
}

struct sc_device_uses sc_device_nodes_of(const struct sc_copy_sides *sides)
{
    enum sc_direction direction = sc_copy_sides_direction(sides);
    bool fills_host = sides->is_fill && sides->dst.known;
    struct sc_device_uses uses = {.count = 0};
    if (!sides->src.used && !sides->is_fill)
        add_side(&uses, &sides->src, direction, SC_DEVICE_READS);
    if (sides->is_fill ? !fills_host : !sides->dst.used)
        add_side(&uses, &sides->dst, direction, SC_DEVICE_WRITES);
    return uses;
}

void sc_device_nodes_note(uintptr_t exec, uintptr_t name, const struct sc_copy_sides *sides,
                          uint8_t unsure)
{
    if (!sc_device_nodes_are_asked() || (unsure && sc_options.kernels == SC_KERNELS_OFF))
        return;
    struct sc_device_uses uses = sc_device_nodes_of(sides);
    for (unsigned i = 0; i < uses.count; i++) {
        uses.of[i].unsure = unsure;
        sc_track_graph_add_device(&sc_track, exec, name, &uses.of[i]);
    }
}

static bool meet_allocation(uintptr_t exec, CUgraphNode node)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    return sc_real.cuGraphMemAllocNodeGetParams &&
           sc_real.cuGraphMemAllocNodeGetParams(node, &params) == CUDA_SUCCESS &&
           sc_track_graph_own_device(&sc_track, exec,
                                     &(struct sc_graph_own){params.dptr, params.bytesize, 0});
}

/* Of memory that another node allocates that one says how much it is. */
static bool meet_free(uintptr_t exec, uintptr_t name, CUgraphNode node)
{
    CUdeviceptr address;
    return sc_real.cuGraphMemFreeNodeGetParams &&
           sc_real.cuGraphMemFreeNodeGetParams(node, &address) == CUDA_SUCCESS &&
           sc_track_graph_own_device(
               &sc_track, exec,
               &(struct sc_graph_own){
                   address, sc_track_device_block_bytes(&sc_track, (uintptr_t)address), name});
}

void sc_device_nodes_meet(uintptr_t exec, uintptr_t name, CUgraphNode node, CUgraphNodeType type)
{
    bool allocates = type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    if ((!allocates && type != CU_GRAPH_NODE_TYPE_MEM_FREE) || !sc_device_nodes_are_asked())
        return;
    if (!(allocates ? meet_allocation(exec, node) : meet_free(exec, name, node)))
        sc_track_graph_leave_out_device(&sc_track, exec);
}

void sc_device_nodes_met_all(uintptr_t exec)
{
    sc_track_graph_settle_device(&sc_track, exec);
}
