#include "interpose/graph/stack_sources.h"

#include "interpose/base/own_stack.h"
#include "interpose/base/process.h"
#include "interpose/driver/driver.h"
#include "interpose/graph/conditional_bodies.h"
#include "interpose/graph/copy_sides.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/graph/orphan_nodes.h"
#include "track/graphs.h"
#include "track/peek.h"
#include "track/pool.h"
#include "track/track.h"

#include "track/poison.h"

/* The type of memory stays, since an exec's node may not be updated to another one. */
void sc_stack_sources_point(CUDA_MEMCPY3D *copy, enum sc_direction direction, void *saved)
{
    if (direction == SC_H2D) {
        bool unified = copy->srcMemoryType == CU_MEMORYTYPE_UNIFIED;
        copy->srcHost = unified ? NULL : saved;
        copy->srcDevice = unified ? (CUdeviceptr)(uintptr_t)saved : 0;
        copy->srcXInBytes = copy->srcY = copy->srcZ = 0;
    } else {
        bool unified = copy->dstMemoryType == CU_MEMORYTYPE_UNIFIED;
        copy->dstHost = unified ? NULL : saved;
        copy->dstDevice = unified ? (CUdeviceptr)(uintptr_t)saved : 0;
        copy->dstXInBytes = copy->dstY = copy->dstZ = 0;
    }
}

/* Where nodes are known: in the graph, or in a child graph of which the program has the handle. */
struct place {
    uintptr_t graph;
    uintptr_t child; /* or 0 */
};

static bool redirect_side(struct place place, CUgraphNode node, enum sc_direction direction,
                          const struct sc_copy_side *box, CUDA_MEMCPY3D *copy)
{
    struct sc_graph_use use = {.shape = box->shape, .direction = direction};
    struct sc_graph_extra extra;
    if (!box->used)
        return false;
    if (place.child)
        sc_track_graph_recognise(&sc_track, place.child, (uintptr_t)node, &use, &extra);
    if (use.kind != SC_STACK)
        sc_track_graph_recognise(&sc_track, place.graph, (uintptr_t)node, &use, &extra);
    if (use.kind != SC_STACK || !extra.saved)
        return false;
    sc_stack_sources_point(copy, direction, extra.saved);
    return true;
}

static void redirect_node(struct sc_stack_sources *redirects, struct place place, CUgraphNode node,
                          CUgraphNode top)
{
    CUDA_MEMCPY3D copy;
    if (redirects->count == redirects->capacity ||
        sc_real.cuGraphMemcpyNodeGetParams(node, &copy) != CUDA_SUCCESS)
        return;
    struct sc_copy_sides boxes = sc_copy_sides_of_3d(&copy);
    struct sc_redirected *entry = &redirects->list[redirects->count];
    *entry = (struct sc_redirected){node, top, copy};
    bool source = redirect_side(place, node, SC_H2D, &boxes.src, &copy);
    bool destination = redirect_side(place, node, SC_D2H, &boxes.dst, &copy);
    if (source || destination)
        redirects->count += sc_real.cuGraphMemcpyNodeSetParams(node, &copy) == CUDA_SUCCESS;
}

static void redirect_nodes(struct sc_stack_sources *redirects, struct place place, CUgraph nodes_of,
                           CUgraphNode top, int depth);

static void redirect_bodies(struct sc_stack_sources *redirects, CUgraphNode node, CUgraphNode top,
                            int depth)
{
    CUgraph body;
    for (uint32_t i = 0; (body = sc_conditional_bodies_at(node, i)) != NULL; i++)
        redirect_nodes(redirects, (struct place){(uintptr_t)body, 0}, body, top, depth + 1);
}

static void redirect_child(struct sc_stack_sources *redirects, struct place place, CUgraphNode node,
                           CUgraphNode top, int depth)
{
    CUgraph child;
    if (sc_real.cuGraphChildGraphNodeGetGraph(node, &child) != CUDA_SUCCESS)
        return;
    place.child = sc_graphs_find(&sc_track.graphs, (uintptr_t)child) ? (uintptr_t)child : 0;
    redirect_nodes(redirects, place, child, top, depth + 1);
}

static void redirect_nodes(struct sc_stack_sources *redirects, struct place place, CUgraph nodes_of,
                           CUgraphNode top, int depth)
{
    size_t count = 0;
    CUgraphNodeType type;
    CUgraphNode *nodes = depth < SC_NODES_DEPTH_MAX ? sc_driver_nodes_of(nodes_of, &count) : NULL;
    for (size_t i = 0; nodes && i < count; i++) {
        if (sc_real.cuGraphNodeGetType(nodes[i], &type) != CUDA_SUCCESS)
            continue;
        if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
            redirect_node(redirects, place, nodes[i], top ? top : nodes[i]);
        else if (type == CU_GRAPH_NODE_TYPE_GRAPH)
            redirect_child(redirects, place, nodes[i], top ? top : nodes[i], depth);
        else if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            redirect_bodies(redirects, nodes[i], top ? top : nodes[i], depth);
    }
    sc_driver_nodes_free(nodes, count);
}

bool sc_stack_sources_frame_lives(const struct sc_graph_use *use,
                                  const struct sc_graph_extra *extra)
{
    uintptr_t found = 0;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    bool own = sc_own_stack_holds(here) && use->from.thread == sc_thread_id();
    if (own && use->shape.address < here)
        return false;
    return !extra->return_slot ||
           (sc_peek(&found, extra->return_slot, sizeof found) && found == extra->return_address);
}

bool sc_stack_sources_refresh(const struct sc_graph_use *use, const struct sc_graph_extra *extra)
{
    bool lives = sc_stack_sources_frame_lives(use, extra);
    if (lives && extra->saved && use->direction == SC_H2D)
        sc_peek(extra->saved, use->shape.address, use->shape.width_bytes);
    return lives;
}

/* How many uses there are in a graph that names a stack; the copies are brought up to date. */
static size_t refresh_graph(uintptr_t graph)
{
    struct sc_graph_use use;
    struct sc_graph_extra extra;
    uint32_t id = sc_graphs_find(&sc_track.graphs, graph);
    if (!id || !sc_graphs_at(&sc_track.graphs, id)->has_stack)
        return 0;
    for (uint32_t i = 0; sc_track_graph_use(&sc_track, id, i, &use, &extra); i++)
        if (use.kind == SC_STACK)
            sc_stack_sources_refresh(&use, &extra);
    return sc_graphs_at(&sc_track.graphs, id)->uses.count;
}

/* The same, with its bodies. */
static size_t refresh_within(CUgraph graph, int depth)
{
    size_t uses = refresh_graph((uintptr_t)graph);
    size_t count = 0;
    CUgraph body;
    bool looks = sc_conditional_bodies_are_any() && depth < SC_NODES_DEPTH_MAX;
    CUgraphNode *nodes = looks ? sc_driver_nodes_of(graph, &count) : NULL;
    for (size_t i = 0; nodes && i < count; i++)
        for (uint32_t j = 0; (body = sc_conditional_bodies_at(nodes[i], j)) != NULL; j++)
            uses += refresh_within(body, depth + 1);
    sc_driver_nodes_free(nodes, count);
    return uses;
}

static void refresh_stray(void *uses, uintptr_t stray)
{
    *(size_t *)uses += refresh_graph(stray);
}

struct sc_stack_sources sc_stack_sources_begin(CUgraph graph)
{
    struct sc_stack_sources redirects = {0};
    if (sc_active() && sc_driver_nodes_can_be_asked())
        redirects.capacity = refresh_within(graph, 0);
    sc_orphan_nodes_each(graph, refresh_stray, &redirects.capacity);
    if (!redirects.capacity)
        return redirects;
    redirects.list = sc_pages_map(redirects.capacity * sizeof *redirects.list);
    if (redirects.list)
        redirect_nodes(&redirects, (struct place){(uintptr_t)graph, 0}, graph, NULL, 0);
    return redirects;
}

void sc_stack_sources_undo(const struct sc_stack_sources *redirects)
{
    for (size_t i = 0; i < redirects->count; i++)
        sc_real.cuGraphMemcpyNodeSetParams(redirects->list[i].node, &redirects->list[i].before);
}

void sc_stack_sources_end(struct sc_stack_sources *redirects)
{
    if (redirects->list)
        sc_pages_unmap(redirects->list, redirects->capacity * sizeof *redirects->list);
}
