#include "interpose/graph/node_uses.h"

#include <string.h>

#include "common/now.h"
#include "common/op_kinds.h"
#include "common/shape.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/thread_stack.h"
#include "interpose/base/unwind.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"
#include "interpose/graph/copy_sides.h"
#include "interpose/graph/device_nodes.h"
#include "interpose/graph/host_use.h"
#include "interpose/graph/node_walk.h"
#include "interpose/graph/orphan_nodes.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/contexts.h"
#include "report/options.h"
#include "track/device_use.h"
#include "track/graphs.h"
#include "track/track.h"
#include "track/track_graphs.h"
#include "track/track_presence.h"
#include "track/track_ranges.h"

#include "common/poison.h"

/* Returns the call as the author of uses: what a report says of who added the node. The stack is
 * taken here, unless the caller has it already. */
static struct sc_graph_author author_of(const struct sc_graph_call *call)
{
    return (struct sc_graph_author){
        .api = call->by->api,
        .stream = call->stream,
        .time_ns = sc_coarse_now_ns(),
        .thread = sc_thread_id(),
        .stack = call->stack ? call->stack : sc_unwind_here(call->by->site),
        .runtime_api = sc_current_call_runtime_api(),
    };
}

/* Copies bytes that a node is to read instead of the program's, which may be gone when the graph is
 * launched. Bytes that cannot be read become zeros. If the device may read pageable memory itself,
 * a launch may still read the copy when the exec is gone, so it is never freed. Returns NULL if
 * there is no memory. */
void *sc_node_uses_copy_bytes(const void *bytes, size_t size_bytes)
{
    struct sc_context *context = sc_contexts_current();
    bool outlives_exec =
        !context || context->reads_pageable; /* a launch may read the copy when the exec is gone */
    void *kept = SC_TRACKED(sc_graphs_alloc_copy(track.graphs, size_bytes, outlives_exec));
    if (kept && sc_thread_stack_read(kept, (uintptr_t)bytes, size_bytes) != SC_STACK_READ)
        memset(kept, 0, size_bytes);
    return kept;
}

/* Can launches read the stack at this address, to bring a copy of the bytes up to date? A copy that
 * stays old would be worse than none. */
static bool can_read(uintptr_t address)
{
    char byte;
    return sc_thread_stack_read(&byte, address, 1) != SC_STACK_UNKNOWN;
}

/* Makes the use one of a stack, and notes the frame that contains the bytes: its function has
 * returned when its return address is no longer there. Launches may come later than that, so in
 * mode=fix a source is copied now, and nodes read the copy. Not in a replay, which changes nothing.
 * A destination is not moved, since later nodes may read the results there. */
static struct sc_graph_extra note_stack(struct sc_graph_use *use)
{
    struct sc_graph_extra extra = {0};
    use->kind = SC_STACK;
    extra.local = sc_unwind_owner_of(use->shape.address).local;
    if (sc_options.mode == SC_MODE_FIX && !sc_replaying_is_on() && use->direction == SC_H2D &&
        can_read(use->shape.address))
        extra.saved = sc_node_uses_copy_bytes((const void *)use->shape.address,
                                              sc_shape_hull_bytes(&use->shape));
    return extra;
}

/* Returns the use that a node makes of one side of its copy: the memory, its range and how launches
 * treat it. The caller adds who added the node (the author). */
struct sc_graph_use sc_node_uses_of_side(uintptr_t node, enum sc_direction direction,
                                         const struct sc_copy_side *side)
{
    struct sc_range_info range = sc_track_find_range(&sc_track, side->shape.address);
    return (struct sc_graph_use){
        .node = node,
        .shape = side->shape,
        .direction = direction,
        .kind = side->kind,
        .range = range.range,
        .origin = range.origin,
        .waits = side->waits,
        .in_call = side->in_call,
    };
}

/* Finds the call that added the node of an exec: it was noted when the node came into a graph. That
 * is the child graph (`in->graph`), if the program has added nodes to it by its handle, or else the
 * graph that the exec is made of (`in->base`). */
void sc_node_uses_recognise(const struct sc_walked_graph *in, CUgraphNode node,
                            struct sc_graph_use *use, struct sc_graph_extra *extra)
{
    SC_TRACK_SCOPE(track);
    if (in->graph != in->base)
        sc_graphs_recognise(track.graphs, (uintptr_t)in->graph, (uintptr_t)node, use, extra);
    if (!use->author.api)
        sc_graphs_recognise(track.graphs, (uintptr_t)in->base, (uintptr_t)node, use, extra);
}

/* Does the memory lie on a stack of the calling thread? Then its function may have returned before
 * the graph is launched. */
static bool is_on_stack(const struct sc_graph_use *use)
{
    return use->kind == SC_PAGEABLE &&
           sc_thread_stack_overlaps(use->shape.address, sc_shape_hull_bytes(&use->shape));
}

/* Adds a use of host memory to the graph, with the call as the one that added the node (its
 * author). Most uses need no struct sc_graph_extra. Those on a stack, with gaps between their rows
 * (fold), or of a node in a child graph or body (inner) do. */
void sc_node_uses_add(const struct sc_graph_call *call, struct sc_graph_use *use,
                      const struct sc_fold *fold)
{
    bool on_stack = is_on_stack(use);
    use->author = author_of(call);
    if (sc_likely(!on_stack && !fold->pitch_bytes && !call->inner)) {
        sc_track_graph_add(&sc_track, call->graph, use, NULL);
        return;
    }
    struct sc_graph_extra extra = {0};
    if (on_stack)
        extra = note_stack(use);
    extra.fold = *fold;
    extra.inner = call->inner;
    sc_track_graph_add(&sc_track, call->graph, use, &extra);
}

/* Called when a stream has captured an operation: adds what it does with host memory to the graph.
 * A prefetch of managed memory neither reads nor writes the bytes, and is left out. */
void sc_node_uses_note(const struct sc_graph_call *call, const struct sc_host_use *named)
{
    if (named->direction == SC_PREFETCH)
        return;
    struct sc_graph_use use = {.shape = named->shape,
                               .direction = named->direction,
                               .kind = named->kind,
                               .range = named->range,
                               .origin = named->origin};
    sc_node_uses_add(call, &use, &named->fold);
}

/* Called when a stream has captured an operation, or a node was added: adds its uses of device
 * memory to the graph, if those are watched. */
void sc_node_uses_note_device(const struct sc_graph_call *call, uintptr_t node,
                              const struct sc_device_uses *uses)
{
    if (!uses->count || !sc_device_nodes_are_watched())
        return;
    const struct sc_graph_use base = {.node = node, .author = author_of(call)};
    sc_device_nodes_add(call, &base, uses->of, uses->count);
}

/* Adds what one side of a node's copy does to the graph's uses, if host memory lies there. */
static void add_side(const struct sc_graph_call *call, uintptr_t node, enum sc_direction direction,
                     const struct sc_copy_side *side)
{
    if (!side->used || sc_shape_hull_bytes(&side->shape) == 0)
        return;
    struct sc_graph_use use = sc_node_uses_of_side(node, direction, side);
    sc_node_uses_add(call, &use, &side->fold);
}

/* Adds what a copy or memset node does with host and device memory. A memset at an address without
 * a known range is one of device memory. */
static void note_sides(const struct sc_graph_call *call, uintptr_t node,
                       const struct sc_copy_sides *sides)
{
    struct sc_device_uses uses = {.count = 0};
    if (!sides->is_fill)
        add_side(call, node, SC_H2D, &sides->src);
    if (!sides->is_fill || sides->dst.known)
        add_side(call, node, sides->is_fill ? SC_MEMSET : SC_D2H, &sides->dst);
    sc_copy_sides_add_device(sides, &uses);
    sc_node_uses_note_device(call, node, &uses);
}

/* Returns the sides of a copy node, with what a launch does with them before it returns. */
static struct sc_copy_sides sides_of_copy(const CUDA_MEMCPY3D *copy)
{
    struct sc_copy_sides sides = sc_copy_sides_named_by_node(copy);
    sc_copy_sides_of_node(&sides);
    return sides;
}

void sc_node_uses_begin_copy(const CUDA_MEMCPY3D *copy)
{
    if (sc_track_has_any(&sc_track, SC_HAS_HOLDS))
        sc_copy_sides_of_3d(copy);
}

void sc_node_uses_begin_memset(const CUDA_MEMSET_NODE_PARAMS *fill)
{
    if (fill && sc_track_has_any(&sc_track, SC_HAS_HOLDS))
        sc_copy_side_at(SC_SIDE_ASKED, fill->dst, fill->width * fill->elementSize);
}

/* Called when a copy node was added or changed: adds what its two sides use to the graph. */
void sc_node_uses_note_copy(const struct sc_graph_call *call, uintptr_t node,
                            const CUDA_MEMCPY3D *copy)
{
    struct sc_copy_sides sides = sides_of_copy(copy);
    note_sides(call, node, &sides);
}

/* Returns the memory that a memset node fills: that of a range which the tracker knows, or what the
 * driver says of the address. An empty side if the program gives no parameters, or no bytes are
 * filled. */
static struct sc_copy_side side_of_memset(const CUDA_MEMSET_NODE_PARAMS *fill)
{
    size_t width = fill ? fill->width * fill->elementSize : 0;
    struct sc_copy_side side = {0};
    if (!width || !fill->height)
        return side;
    side = sc_copy_side_at(SC_SIDE_OF_NODE, fill->dst, width);
    /* Pinned memory that was freed since is not known any more, and is still used. */
    side.used = true;
    side.shape.rows = fill->height;
    if (fill->height > 1)
        side.shape.pitch_bytes = fill->pitch;
    return side;
}

static struct sc_copy_sides sides_of_memset(const CUDA_MEMSET_NODE_PARAMS *fill)
{
    return (struct sc_copy_sides){.dst = side_of_memset(fill), .is_fill = true};
}

/* Called when a memset node was added or changed: adds the memory that it fills to the graph's
 * uses. */
void sc_node_uses_note_memset(const struct sc_graph_call *call, uintptr_t node,
                              const CUDA_MEMSET_NODE_PARAMS *fill)
{
    struct sc_copy_sides sides = sides_of_memset(fill);
    note_sides(call, node, &sides);
}

/* Asks the driver what memory a copy or memset node uses, since calls without a wrapper may have
 * changed it. Returns false for other nodes, or if the driver does not tell. */
bool sc_node_uses_sides(CUgraphNode node, CUgraphNodeType type, struct sc_copy_sides *sides)
{
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS fill;
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY &&
        sc_real.cuGraphMemcpyNodeGetParams(node, &copy) == CUDA_SUCCESS)
        *sides = sides_of_copy(&copy);
    else if (type == CU_GRAPH_NODE_TYPE_MEMSET &&
             sc_real.cuGraphMemsetNodeGetParams(node, &fill) == CUDA_SUCCESS)
        *sides = sides_of_memset(&fill);
    else
        return false;
    return true;
}

void sc_node_uses_each_side(const struct sc_copy_sides *sides, sc_visit_side *visit, void *context)
{
    if (!sides->is_fill)
        visit(context, SC_H2D, &sides->src);
    visit(context, sides->is_fill ? SC_MEMSET : SC_D2H, &sides->dst);
}

/* Called before the program changes or destroys a node that the tracker does not know by name: its
 * uses can be found by their bytes then. Nodes that are neither copy nor memset have none. */
void sc_node_uses_ask_driver(CUgraphNode node, CUgraphNodeType type, sc_visit_side *visit,
                             void *context)
{
    struct sc_copy_sides sides;
    if (sc_node_uses_sides(node, type, &sides))
        sc_node_uses_each_side(&sides, visit, context);
}

/* Adds all that the graph `of` uses to another graph, which is its clone or has it as a child.
 * Nodes of which only the driver knows that they are in `of` (orphans) are kept apart, and added as
 * well. */
void sc_node_uses_note_all(uintptr_t graph, CUgraph of)
{
    SC_TRACKED(sc_graphs_add_all(track.graphs, graph, (uintptr_t)of));
    sc_orphan_nodes_add_all(graph, of);
}

/* Called when a child graph node was added. If the program has moved the child graph into its
 * parent, the child keeps its handle and ends with the parent. The parent has its uses from now on,
 * so they are forgotten under the child's handle. The program may still add nodes by that. */
static void note_child_moved(const CUDA_CHILD_GRAPH_NODE_PARAMS *params, CUgraph child)
{
    if (params->ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE)
        return;
    sc_reaper_forget_graph((uintptr_t)child);
    sc_orphan_nodes_name_children();
}

CUgraph sc_node_uses_child_of(const CUgraphNodeParams *params)
{
    return params && params->type == CU_GRAPH_NODE_TYPE_GRAPH ? params->graph.graph : NULL;
}

/* Returns the parameters of a memset node of cuGraphAddNode in the form that cuGraphAddMemsetNode
 * has, so that both are noted alike. */
static CUDA_MEMSET_NODE_PARAMS fill_of(const CUgraphNodeParams *params)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = params->memset.dst,
        .pitch = params->memset.pitch,
        .value = params->memset.value,
        .elementSize = params->memset.elementSize,
        .width = params->memset.width,
        .height = params->memset.height,
    };
}

void sc_node_uses_begin_node(const CUgraphNodeParams *params)
{
    const bool is_memset = params && params->type == CU_GRAPH_NODE_TYPE_MEMSET;
    const CUDA_MEMSET_NODE_PARAMS fill = is_memset ? fill_of(params) : (CUDA_MEMSET_NODE_PARAMS){0};
    if (is_memset)
        sc_node_uses_begin_memset(&fill);
    else if (params && params->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        sc_node_uses_begin_copy(&params->memcpy.copyParams);
}

/* Notes what a node does that was added with cuGraphAddNode: a copy, a memset or a child graph.
 * What nodes of other types use is found when an exec is made. */
void sc_node_uses_note_node(const struct sc_graph_call *call, uintptr_t node,
                            const CUgraphNodeParams *params, CUgraph child)
{
    if (params->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        sc_node_uses_note_copy(call, node, &params->memcpy.copyParams);
    else if (params->type == CU_GRAPH_NODE_TYPE_MEMSET) {
        const CUDA_MEMSET_NODE_PARAMS fill = fill_of(params);
        sc_node_uses_note_memset(call, node, &fill);
    } else if (child) {
        sc_node_uses_note_all(call->graph, child);
        note_child_moved(&params->graph, child);
    }
}
