#include "interpose/graph/stack_sources.h"

#include "common/op_kinds.h"
#include "common/own_pages.h"
#include "common/shape.h"
#include "interpose/base/locals.h"
#include "interpose/base/process.h"
#include "interpose/base/thread_stack.h"
#include "interpose/driver/driver.h"
#include "interpose/graph/conditional_bodies.h"
#include "interpose/graph/copy_sides.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/graph/node_uses.h"
#include "interpose/graph/node_walk.h"
#include "interpose/graph/orphan_nodes.h"
#include "track/graph_records.h"
#include "track/graphs.h"
#include "track/track.h"
#include "track/track_graphs.h"

#include "common/poison.h"

/* Makes one side of a copy node's parameters use `saved`, the library's copy of the bytes. The type
 * of memory stays, since the driver refuses to change it in an exec. `saved` has the gaps between
 * the rows, too, so the pitch stays; a pitch of 0 depended on the offsets, which become 0. */
void sc_stack_sources_redirect(CUDA_MEMCPY3D *copy, enum sc_direction direction, void *saved)
{
    if (direction == SC_H2D) {
        bool unified = copy->srcMemoryType == CU_MEMORYTYPE_UNIFIED;
        if (!copy->srcPitch)
            copy->srcPitch = copy->srcXInBytes + copy->WidthInBytes;
        if (!copy->srcHeight)
            copy->srcHeight = copy->srcY + copy->Height;
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

/* Points one side of a copy node at the library's copy of its bytes, if the side is on a stack and
 * the graph has such a copy. Returns whether it did. */
static bool redirect_side(const struct sc_walked_graph *in, CUgraphNode node,
                          enum sc_direction direction, const struct sc_copy_side *side,
                          CUDA_MEMCPY3D *copy)
{
    struct sc_graph_use use = {.shape = side->shape, .direction = direction};
    struct sc_graph_extra extra;
    if (!side->used)
        return false;
    sc_node_uses_recognise(in, node, &use, &extra);
    if (use.kind != SC_STACK || !extra.saved)
        return false;
    sc_stack_sources_redirect(copy, direction, extra.saved);
    return true;
}

/* Points a copy node of the program's graph at the copies of what it reads from a stack, and keeps
 * the node's own parameters for the undo. Does nothing if the list is full, or the driver
 * refuses. */
static void redirect_node(struct sc_stack_sources *redirects, const struct sc_walked_graph *in,
                          CUgraphNode node)
{
    CUDA_MEMCPY3D copy;
    if (redirects->count == redirects->capacity ||
        sc_real.cuGraphMemcpyNodeGetParams(node, &copy) != CUDA_SUCCESS)
        return;
    struct sc_copy_sides sides = sc_copy_sides_named_by_node(&copy);
    struct sc_redirected *entry = &redirects->list[redirects->count];
    *entry = (struct sc_redirected){node, sc_node_walk_top(in, node), copy};
    bool source = redirect_side(in, node, SC_H2D, &sides.src, &copy);
    bool destination = redirect_side(in, node, SC_D2H, &sides.dst, &copy);
    if (source || destination)
        redirects->count += sc_real.cuGraphMemcpyNodeSetParams(node, &copy) == CUDA_SUCCESS;
}

/* The walk's function for sc_stack_sources_begin: makes a copy node whose source is on a stack read
 * a copy of the source. Other nodes are entered. */
static enum sc_step redirect_copy(void *redirects, struct sc_walked_graph *in, CUgraphNode node,
                                  CUgraphNodeType type)
{
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
        redirect_node(redirects, in, node);
    return SC_STEP_INTO;
}

struct sc_running sc_stack_sources_here(void)
{
    return (struct sc_running){.here = (uintptr_t)__builtin_frame_address(0)};
}

/* Did this thread add the node, and does it run on the stack that the thread was created with? Only
 * then can the frame of the variable be compared with those that run now. */
static bool is_of_this_thread(const struct sc_graph_use *use, const struct sc_running *running)
{
    return use->author.thread == sc_thread_id() && sc_thread_stack_holds(running->here);
}

/* Does the function still run in whose variable the node's bytes lie? On another thread's stack
 * only the return address of the frame tells; on the own one the running frames do, too. */
bool sc_stack_sources_frame_lives(const struct sc_graph_use *use,
                                  const struct sc_graph_extra *extra, struct sc_running *running)
{
    uintptr_t address = use->shape.address;
    if (!is_of_this_thread(use, running))
        return !sc_locals_is_gone(&extra->local, address, NULL);
    sc_locals_learn(running, address);
    return !sc_locals_is_gone(&extra->local, address, running);
}

/* Brings the library's copy of a source on a stack up to date, while its function still runs: a
 * node reads what the variable holds at the launch. Returns false if the function has returned;
 * then the copy keeps the last bytes that were read. */
bool sc_stack_sources_refresh(const struct sc_graph_use *use, const struct sc_graph_extra *extra,
                              struct sc_running *running)
{
    bool lives = sc_stack_sources_frame_lives(use, extra, running);
    if (lives && extra->saved && use->direction == SC_H2D)
        sc_thread_stack_read(extra->saved, use->shape.address, sc_shape_hull_bytes(&use->shape));
    return lives;
}

/* Brings the copies of the graph's sources on stacks up to date. Returns how many uses the graph
 * has, as room for the nodes to be redirected; 0: it uses no stack. */
static size_t update_copies(uintptr_t graph)
{
    struct sc_graph_use use;
    struct sc_graph_extra extra;
    struct sc_running running = sc_stack_sources_here();
    uint32_t id;
    const struct sc_graph *known = sc_track_graph(&sc_track, graph, &id);
    if (!known || !known->stack_count)
        return 0;
    for (uint32_t i = 0; SC_TRACKED(sc_graphs_get_use(track.graphs, id, i, &use, &extra)); i++)
        if (use.kind == SC_STACK)
            sc_stack_sources_refresh(&use, &extra, &running);
    return known->uses.count;
}

/* The walk's function behind each graph: brings the copies of that graph up to date, and adds to
 * the number of uses. */
static void update_at_end(void *uses, struct sc_walked_graph *graph, const CUgraphNode *nodes,
                          size_t count)
{
    (void)nodes;
    (void)count;
    *(size_t *)uses += update_copies((uintptr_t)graph->graph);
}

/* Brings the copies of sources on stacks of the graph, and of bodies of its conditional nodes, up
 * to date. Returns how many uses there are, or 0 if none is of a stack. The bodies have uses of
 * their own; child graphs' nodes are in the graph's uses. */
static size_t update_with_bodies(CUgraph graph)
{
    static const struct sc_node_walk walk = {.end = update_at_end, .looks_for_bodies_only = true};
    size_t uses = 0;
    if (!sc_conditional_bodies_exist())
        return update_copies((uintptr_t)graph);
    sc_node_walk_graph(&walk, &uses, graph, NULL);
    return uses;
}

/* For sc_orphan_nodes_each: brings the copies that are kept under this handle up to date, and adds
 * to the number of uses. */
static void refresh_orphan(void *uses, uintptr_t orphan)
{
    *(size_t *)uses += update_copies(orphan);
}

/* Called before the driver makes an exec: makes nodes of the program's graph read copies of sources
 * on a stack, so that the exec's nodes do. The function of such a stack frame may have returned
 * when the exec is launched. The caller undoes it after the call. */
struct sc_stack_sources sc_stack_sources_begin(CUgraph graph)
{
    static const struct sc_node_walk walk = {.meet = redirect_copy};
    struct sc_stack_sources redirects = {0};
    /* The uses are counted as room for the list: no more nodes than that can be redirected. */
    if (sc_active() && sc_driver_nodes_can_be_asked())
        redirects.capacity = update_with_bodies(graph);
    sc_orphan_nodes_each(graph, refresh_orphan, &redirects.capacity);
    if (!redirects.capacity)
        return redirects;
    redirects.list = sc_pages_map(redirects.capacity * sizeof *redirects.list);
    if (redirects.list)
        sc_node_walk_graph(&walk, &redirects, graph, NULL);
    return redirects;
}

void sc_stack_sources_undo(const struct sc_stack_sources *redirects)
{
    for (size_t i = 0; i < redirects->count; i++)
        sc_real.cuGraphMemcpyNodeSetParams(redirects->list[i].node, &redirects->list[i].before);
}

void sc_stack_sources_end(struct sc_stack_sources *redirects)
{
    sc_pages_unmap(redirects->list, redirects->capacity * sizeof *redirects->list);
}
