/* Execs: when one is made or updated, the driver is asked for the nodes, since their parameters may
 * have been changed by calls that nobody saw; the graph's own uses of the same bytes say who made
 * them. */
#include <errno.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/calls/graph_calls.h"
#include "interpose/capture/captures.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"
#include "interpose/driver/wrap.h"
#include "interpose/graph/conditional_bodies.h"
#include "interpose/graph/copy_sides.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/graph/node_uses.h"
#include "interpose/graph/stack_sources.h"
#include "interpose/graph/unjudged.h"
#include "interpose/streams/contexts.h"
#include "track/graphs.h"
#include "track/handles.h"
#include "track/hazard.h"
#include "track/pool.h"
#include "track/shape.h"
#include "track/track.h"

#include "track/poison.h"

struct making {
    struct sc_graph_call call;   /* with the exec as the graph */
    uintptr_t graph;             /* that it is made from */
    uintptr_t child;             /* that is being looked into and known by its own handle, or 0 */
    struct sc_handles *names;    /* its nodes -> the exec's; NULL: they are the same */
    struct sc_handles *unjudged; /* the exec's nodes that are not to be judged; made when needed */
};

/* By which the exec's uses know a node. */
static uintptr_t name_of(const struct making *making, CUgraphNode node)
{
    uint64_t name = making->names ? sc_handles_get(making->names, (uintptr_t)node) : 0;
    return name ? (uintptr_t)name : (uintptr_t)node;
}

/* All of them are told of together: there may be as many as the exec has uses. */
static void unjudge_name(const struct making *making, uintptr_t name)
{
    struct sc_handles *set = making->unjudged;
    bool made =
        atomic_load_explicit(&set->table, memory_order_relaxed) || sc_handles_init(set) == 0;
    if (!made || sc_handles_put(set, name, 1) != 0)
        sc_track_graph_unjudge_node(&sc_track, making->call.graph, name);
}

static void note_nodes(const struct making *making, CUgraph graph, uintptr_t top, int depth);

/* ---- its nodes ---- */

/* `name` is what the exec calls the node. */
static void note_exec_box(const struct making *making, CUgraphNode node, uintptr_t name,
                          enum sc_direction direction, const struct sc_copy_side *box)
{
    if (!box->used || sc_shape_hull_bytes(&box->shape) == 0)
        return;
    struct sc_graph_use use = sc_node_uses_bare(name, direction, box);
    struct sc_graph_extra extra = {0};
    if (making->child)
        sc_track_graph_recognise(&sc_track, making->child, (uintptr_t)node, &use, &extra);
    if (!use.from.api)
        sc_track_graph_recognise(&sc_track, making->graph, (uintptr_t)node, &use, &extra);
    extra.fold = box->fold; /* of the same bytes' use, perhaps another */
    if (use.from.api)
        sc_track_graph_add(&sc_track, making->call.graph, &use,
                           use.extra || box->fold.pitch_bytes ? &extra : NULL);
    else if (direction != SC_MEMSET || box->known) /* or it is device memory */
        sc_node_uses_add(&making->call, &use, &box->fold);
}

static void note_event(const struct sc_graph_call *call, uintptr_t name, CUevent event, bool waits)
{
    struct sc_graph_event noted = {name, (uintptr_t)event, waits};
    sc_track_graph_add_event(&sc_track, call->graph, &noted);
}

/* Whether and how often a body runs, only the device knows: its memory is kept, and not judged. */
static void note_bodies(const struct making *making, CUgraphNode node, uintptr_t name, int depth)
{
    struct making within = *making;
    CUgraph body;
    for (uint32_t i = 0; (body = sc_conditional_bodies_at(node, i)) != NULL; i++) {
        within.graph = (uintptr_t)body;
        note_nodes(&within, body, name, depth + 1);
    }
    unjudge_name(making, name);
}

/* Events are known by the nodes, and stand for what comes before the launch. What else tells the
 * host of that is not seen. Of a host function its stack tells what it may touch. */
static void note_signal(const struct making *making, CUgraphNode node, CUgraphNodeType type,
                        uintptr_t name)
{
    CUevent event = NULL;
    bool waits = type == CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if (waits && sc_real.cuGraphEventWaitNodeGetEvent)
        result = sc_real.cuGraphEventWaitNodeGetEvent(node, &event);
    else if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD && sc_real.cuGraphEventRecordNodeGetEvent)
        result = sc_real.cuGraphEventRecordNodeGetEvent(node, &event);
    if (result == CUDA_SUCCESS)
        note_event(&making->call, name, event, waits);
    else if (sc_unjudged_is_signal(type) || sc_unjudged_awaits_host(type))
        sc_track_graph_meets_host(&sc_track, making->call.graph, sc_unjudged_is_signal(type),
                                  sc_unjudged_awaits_host(type) && type != CU_GRAPH_NODE_TYPE_HOST);
}

static void note_exec_node(const struct making *making, CUgraphNode node, CUgraphNodeType type,
                           uintptr_t top, int depth)
{
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUgraph child;
    uintptr_t name = top ? top : name_of(making, node);
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY &&
        sc_real.cuGraphMemcpyNodeGetParams(node, &copy) == CUDA_SUCCESS) {
        struct sc_copy_sides boxes = sc_copy_sides_of_3d(&copy);
        note_exec_box(making, node, name, SC_H2D, &boxes.src);
        note_exec_box(making, node, name, SC_D2H, &boxes.dst);
    } else if (type == CU_GRAPH_NODE_TYPE_MEMSET &&
               sc_real.cuGraphMemsetNodeGetParams(node, &fill) == CUDA_SUCCESS) {
        struct sc_copy_side box = sc_node_uses_box_of_memset(&fill);
        note_exec_box(making, node, name, SC_MEMSET, &box);
    } else if (type == CU_GRAPH_NODE_TYPE_GRAPH &&
               sc_real.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS) {
        struct making within = *making;
        within.child = sc_graphs_find(&sc_track.graphs, (uintptr_t)child) ? (uintptr_t)child : 0;
        note_nodes(&within, child, name, depth + 1);
    } else if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
        note_bodies(making, node, name, depth);
    } else {
        note_signal(making, node, type, name);
    }
}

static bool names_memory(uintptr_t graph)
{
    uint32_t id = sc_graphs_find(&sc_track.graphs, graph);
    return id && sc_graphs_at(&sc_track.graphs, id)->uses.count;
}

struct level {
    const struct making *making;
    uintptr_t top; /* the child graph's node in the exec's graph; 0: this is that graph */
};

static void unjudge(void *context, CUgraphNode node)
{
    const struct level *level = context;
    unjudge_name(level->making, level->top ? level->top : name_of(level->making, node));
}

static void note_nodes(const struct making *making, CUgraph graph, uintptr_t top, int depth)
{
    size_t count = 0;
    bool matters = false;
    CUgraphNodeType type;
    CUgraphNode *nodes = depth < SC_NODES_DEPTH_MAX ? sc_driver_nodes_of(graph, &count) : NULL;
    for (size_t i = 0; nodes && i < count; i++) {
        if (sc_real.cuGraphNodeGetType(nodes[i], &type) != CUDA_SUCCESS)
            continue;
        note_exec_node(making, nodes[i], type, top, depth);
        matters |= sc_unjudged_may_matter(type);
    }
    if (matters && names_memory(making->call.graph))
        sc_unjudged_each(nodes, count, unjudge, &(struct level){making, top});
    sc_driver_nodes_free(nodes, count);
}

static void note_graph(struct making making, CUgraph graph, uintptr_t top, int depth)
{
    struct sc_handles unjudged = {.count = 0};
    making.unjudged = &unjudged;
    note_nodes(&making, graph, top, depth);
    if (!atomic_load_explicit(&unjudged.table, memory_order_relaxed))
        return;
    sc_track_graph_unjudge_nodes(&sc_track, making.call.graph, &unjudged);
    sc_handles_destroy(&unjudged);
}

/* The exec has been made from the nodes as they were. */
static void note_redirected(const struct sc_stack_sources *redirects, const struct making *making)
{
    for (size_t i = 0; i < redirects->count; i++)
        sc_track_graph_redirect_node(&sc_track, making->call.graph,
                                     name_of(making, redirects->list[i].top));
}

static void note_exec(const struct making *making, const struct sc_stack_sources *redirects,
                      CUgraph graph)
{
    struct sc_relaxed relaxed = sc_relaxed_begin();
    const struct sc_context *context = sc_contexts_current();
    sc_track_graph_begin_exec(&sc_track, making->call.graph, context ? context->legacy : 0,
                              sc_driver_nodes_may_do_nothing(graph, 0));
    note_graph(*making, graph, 0, 0);
    note_redirected(redirects, making);
    sc_track_graph_make_runs(&sc_track, making->call.graph);
    sc_relaxed_end(&relaxed);
}

static void keep_names(uintptr_t exec, CUgraph graph)
{
    size_t count = 0;
    CUgraphNode *nodes = names_memory(exec) ? sc_driver_nodes_of(graph, &count) : NULL;
    if (!nodes)
        return;
    sc_track_graph_set_names(&sc_track, exec, (const uintptr_t *)nodes, (uint32_t)count);
    sc_driver_nodes_free(nodes, count);
}

/* The driver pairs the nodes of two graphs that are built alike by their order. */
static bool pair_names(uintptr_t exec, CUgraph graph, struct sc_handles *names)
{
    size_t count = 0;
    CUgraphNode *nodes = names_memory(exec) ? sc_driver_nodes_of(graph, &count) : NULL;
    uintptr_t *known = nodes ? sc_pages_map(count * sizeof *known) : NULL;
    bool paired = known && sc_track_graph_names_of(&sc_track, exec, known, (uint32_t)count) &&
                  sc_handles_init(names) == 0;
    for (size_t i = 0; paired && i < count; i++)
        sc_handles_put(names, (uintptr_t)nodes[i], known[i]);
    if (known)
        sc_pages_unmap(known, count * sizeof *known);
    sc_driver_nodes_free(nodes, count);
    return paired;
}

/* ---- made, updated, changed ---- */

static CUresult made(CUresult result, struct sc_stack_sources *redirects,
                     const struct sc_call *call, const CUgraphExec *exec, CUgraph graph)
{
    int saved = errno;
    sc_stack_sources_undo(redirects);
    if (result == CUDA_SUCCESS && sc_active() && sc_driver_nodes_can_be_asked()) {
        const struct making making = {.call = sc_graph_call((uintptr_t)*exec, call),
                                      .graph = (uintptr_t)graph};
        note_exec(&making, redirects, graph);
        keep_names((uintptr_t)*exec, graph);
    }
    sc_stack_sources_end(redirects);
    errno = saved;
    return result;
}

static CUresult updated(CUresult result, struct sc_stack_sources *redirects,
                        const struct sc_call *call, CUgraphExec exec, CUgraph graph)
{
    int saved = errno;
    sc_stack_sources_undo(redirects);
    if (result == CUDA_SUCCESS && sc_active() && sc_driver_nodes_can_be_asked()) {
        struct sc_handles names;
        bool paired = pair_names((uintptr_t)exec, graph, &names);
        const struct making making = {.call = sc_graph_call((uintptr_t)exec, call),
                                      .graph = (uintptr_t)graph,
                                      .names = paired ? &names : NULL};
        note_exec(&making, redirects, graph);
        if (paired)
            sc_handles_destroy(&names);
    }
    sc_stack_sources_end(redirects);
    errno = saved;
    return result;
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *error, char *log,
                            size_t log_bytes)
{
    SC_WRAPPER(cuGraphInstantiate);
    struct sc_stack_sources redirects = sc_stack_sources_begin(graph);
    CUresult result = SC_PERMITTED(real(exec, graph, error, log, log_bytes));
    return made(result, &redirects, call, exec, graph);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error, char *log,
                               size_t log_bytes)
{
    SC_WRAPPER(cuGraphInstantiate_v2);
    struct sc_stack_sources redirects = sc_stack_sources_begin(graph);
    CUresult result = SC_PERMITTED(real(exec, graph, error, log, log_bytes));
    return made(result, &redirects, call, exec, graph);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    SC_WRAPPER(cuGraphInstantiateWithFlags);
    struct sc_stack_sources redirects = sc_stack_sources_begin(graph);
    CUresult result = SC_PERMITTED(real(exec, graph, flags));
    return made(result, &redirects, call, exec, graph);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    SC_WRAPPER(cuGraphInstantiateWithParams);
    struct sc_stack_sources redirects = sc_stack_sources_begin(graph);
    CUresult result = SC_PERMITTED(real(exec, graph, params));
    return made(result, &redirects, call, exec, graph);
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    SC_WRAPPER(cuGraphInstantiateWithParams_ptsz);
    struct sc_stack_sources redirects = sc_stack_sources_begin(graph);
    CUresult result = SC_PERMITTED(real(exec, graph, params));
    return made(result, &redirects, call, exec, graph);
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error,
                           CUgraphExecUpdateResult *info)
{
    SC_WRAPPER(cuGraphExecUpdate);
    sc_graph_calls_letting_go(exec);
    struct sc_stack_sources redirects = sc_stack_sources_begin(graph);
    CUresult result = sc_permit_refused(call, real(exec, graph, error, info));
    return updated(result, &redirects, call, exec, graph);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    SC_WRAPPER(cuGraphExecUpdate_v2);
    sc_graph_calls_letting_go(exec);
    struct sc_stack_sources redirects = sc_stack_sources_begin(graph);
    CUresult result = sc_permit_refused(call, real(exec, graph, info));
    return updated(result, &redirects, call, exec, graph);
}

/* Where a node stands, and whether it is enabled, stays as it was. */
struct exec_change {
    struct sc_graph_call by;
    uintptr_t node;
    struct sc_graph_flags flags;
};

/* The driver has accepted a change: what was known of the node is dropped, but for its flags. */
static struct exec_change changing(const struct sc_call *call, CUgraphExec exec, CUgraphNode node)
{
    struct exec_change change = {.by = sc_graph_call((uintptr_t)exec, call),
                                 .node = (uintptr_t)node};
    change.flags = sc_track_graph_flags(&sc_track, change.by.graph, change.node);
    sc_track_graph_drop_node(&sc_track, change.by.graph, change.node);
    return change;
}

/* Where a node stands, and whether it is enabled, stays as it was. */
static void changed(const struct exec_change *change)
{
    if (change->flags.unjudged)
        sc_track_graph_unjudge_node(&sc_track, change->by.graph, change->node);
    if (change->flags.disabled)
        sc_track_graph_enable_node(&sc_track, change->by.graph, change->node, false);
}

/* A source on a stack is replaced by the copy that the use keeps of it. */
static void keep_stack_sides(const struct exec_change *change, CUgraphExec exec, CUgraphNode node,
                             const CUDA_MEMCPY3D *copy, CUcontext context,
                             __typeof__(&cuGraphExecMemcpyNodeSetParams) real)
{
    CUDA_MEMCPY3D kept = *copy;
    void *source = sc_track_graph_saved(&sc_track, change->by.graph, change->node, SC_H2D);
    void *destination = sc_track_graph_saved(&sc_track, change->by.graph, change->node, SC_D2H);
    if (source)
        sc_stack_sources_point(&kept, SC_H2D, source);
    if (destination)
        sc_stack_sources_point(&kept, SC_D2H, destination);
    if ((source || destination) && real(exec, node, &kept, context) == CUDA_SUCCESS)
        sc_track_graph_redirect_node(&sc_track, change->by.graph, change->node);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D *copy, CUcontext context)
{
    SC_WRAPPER(cuGraphExecMemcpyNodeSetParams);
    CUresult result = real(exec, node, copy, context);
    if (result != CUDA_SUCCESS || !sc_active())
        return result;
    struct exec_change change = changing(call, exec, node);
    sc_node_uses_note_copy(&change.by, change.node, copy);
    keep_stack_sides(&change, exec, node, copy, context, real);
    changed(&change);
    return result;
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context)
{
    SC_WRAPPER(cuGraphExecMemsetNodeSetParams);
    CUresult result = real(exec, node, fill, context);
    if (result != CUDA_SUCCESS || !sc_active())
        return result;
    struct exec_change change = changing(call, exec, node);
    sc_node_uses_note_memset(&change.by, change.node, fill);
    changed(&change);
    return result;
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    SC_WRAPPER(cuGraphExecEventRecordNodeSetEvent);
    CUresult result = real(exec, node, event);
    if (result != CUDA_SUCCESS || !sc_active())
        return result;
    struct exec_change change = changing(call, exec, node);
    note_event(&change.by, change.node, event, false);
    changed(&change);
    return result;
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    SC_WRAPPER(cuGraphExecEventWaitNodeSetEvent);
    CUresult result = real(exec, node, event);
    if (result != CUDA_SUCCESS || !sc_active())
        return result;
    struct exec_change change = changing(call, exec, node);
    note_event(&change.by, change.node, event, true);
    changed(&change);
    return result;
}

static void note_child(const struct sc_graph_call *by, CUgraphNode node, CUgraph child)
{
    if (sc_driver_nodes_can_be_asked())
        note_graph((struct making){.call = *by, .graph = (uintptr_t)child}, child, (uintptr_t)node,
                   1);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    SC_WRAPPER(cuGraphExecChildGraphNodeSetParams);
    sc_graph_calls_letting_go(exec);
    CUresult result = real(exec, node, child);
    if (result != CUDA_SUCCESS || !sc_active())
        return result;
    struct exec_change change = changing(call, exec, node);
    note_child(&change.by, node, child);
    changed(&change);
    return result;
}

static CUgraph letting_go_of_child(CUgraphExec exec, const CUgraphNodeParams *params)
{
    CUgraph child = sc_node_uses_child_of(params);
    if (child)
        sc_graph_calls_letting_go(exec);
    return child;
}

static void note_params(const struct sc_graph_call *by, CUgraphNode node,
                        const CUgraphNodeParams *params, CUgraph child)
{
    if (child)
        note_child(by, node, child);
    else if (params->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
        note_event(by, (uintptr_t)node, params->eventRecord.event, false);
    else if (params->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
        note_event(by, (uintptr_t)node, params->eventWait.event, true);
    else
        sc_node_uses_note_node(by, (uintptr_t)node, params, NULL);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params)
{
    SC_WRAPPER(cuGraphExecNodeSetParams);
    CUgraph child = letting_go_of_child(exec, params);
    CUresult result = real(exec, node, params);
    if (result != CUDA_SUCCESS || !sc_active())
        return result;
    struct exec_change change = changing(call, exec, node);
    note_params(&change.by, node, params, child);
    changed(&change);
    return result;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled)
{
    SC_WRAPPER(cuGraphNodeSetEnabled);
    CUresult result = real(exec, node, enabled);
    if (result == CUDA_SUCCESS && sc_active())
        sc_track_graph_enable_node(&sc_track, (uintptr_t)exec, (uintptr_t)node, enabled);
    return result;
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    SC_WRAPPER(cuGraphExecDestroy);
    sc_graph_calls_letting_go(exec);
    uint32_t known = sc_graph_calls_destroying(exec);
    return sc_graph_calls_destroyed(known, SC_PERMITTED(real(exec)));
}
