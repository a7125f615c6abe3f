#include "interpose/graphs.h"

#include <errno.h>
#include <string.h>

#include "cupti_hooks/ear.h"
#include "interpose/bodies.h"
#include "interpose/captures.h"
#include "interpose/detours.h"
#include "interpose/hazards.h"
#include "interpose/issue.h"
#include "interpose/marks.h"
#include "interpose/process.h"
#include "interpose/reaper.h"
#include "interpose/signals.h"
#include "interpose/strays.h"
#include "interpose/sync.h"
#include "interpose/wrap.h"
#include "track/peek.h"

#include "track/poison.h"

/* ---- captures ---- */

/* Both forms answer with the graph; the newer one asks for edges as well. */
static uintptr_t ask_graph(CUstream handle)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = NULL;
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if (sc_real.cuStreamGetCaptureInfo_v3)
        result = sc_real.cuStreamGetCaptureInfo_v3(handle, &status, NULL, &graph, NULL, NULL, NULL);
    else if (sc_real.cuStreamGetCaptureInfo_v2)
        result = sc_real.cuStreamGetCaptureInfo_v2(handle, &status, NULL, &graph, NULL, NULL);
    return result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? (uintptr_t)graph
                                                                               : 0;
}

uintptr_t sc_graphs_captured_into(struct sc_stream_record *stream)
{
    uint64_t epoch = sc_streams_capture_epoch();
    if (atomic_load_explicit(&stream->graph_epoch, memory_order_acquire) != epoch) {
        atomic_store_explicit(&stream->graph, ask_graph(stream->handle), memory_order_relaxed);
        atomic_store_explicit(&stream->graph_epoch, epoch, memory_order_release);
    }
    return atomic_load_explicit(&stream->graph, memory_order_relaxed);
}

void sc_graphs_capture_failed(uintptr_t graph)
{
    uint32_t known = graph ? sc_track_graph_detach(&sc_track, graph) : 0;
    if (known && sc_track_graph_remove(&sc_track, known))
        sc_reaper_wake();
}

/* ---- uses ---- */

static struct sc_graph_origin origin_of(const struct sc_graph_call *call)
{
    return (struct sc_graph_origin){
        .api = call->api,
        .stream = call->stream,
        .time_ns = sc_coarse_now_ns(),
        .thread = sc_thread_id(),
        .stack = sc_unwind_here(call->site),
        .runtime_api = sc_ear_runtime_api(),
    };
}

void *sc_graphs_keep(const void *bytes, size_t size_bytes)
{
    struct sc_context *context = sc_streams_current_context();
    bool read_late =
        !context || context->reads_pageable; /* by a launch that may outlive the exec */
    void *kept = sc_track_graph_take_copy(&sc_track, size_bytes, read_late);
    if (kept && !sc_peek(kept, (uintptr_t)bytes, size_bytes))
        memset(kept, 0, size_bytes);
    return kept;
}

/* The frame that the bytes lie in has returned when its return address is no longer there. It may
 * do so at once, so the bytes are copied now; launches bring the copy up to date for as long as the
 * frame lives. A destination stays where it is: later nodes may look at it there. */
static struct sc_graph_extra note_stack(struct sc_graph_use *use)
{
    struct sc_graph_extra extra = {0};
    use->kind = SC_STACK;
    sc_unwind_frame_of(use->shape.address, &extra.return_slot, &extra.return_address);
    if (sc_options.mode == SC_MODE_FIX && !sc_follows() && use->direction == SC_H2D &&
        use->shape.rows == 1)
        extra.saved = sc_graphs_keep((const void *)use->shape.address, use->shape.width_bytes);
    return extra;
}

static struct sc_graph_use bare_use(uintptr_t node, enum sc_direction direction,
                                    const struct sc_box *box)
{
    return (struct sc_graph_use){
        .node = node,
        .shape = box->shape,
        .direction = direction,
        .kind = box->kind,
        .range = sc_track_find_range(&sc_track, box->shape.address).range,
    };
}

static bool is_on_stack(const struct sc_graph_use *use)
{
    return use->kind == SC_PAGEABLE &&
           sc_signals_is_stack(use->shape.address, sc_shape_hull_bytes(&use->shape));
}

/* The call made or changed a node. */
static void add_use(const struct sc_graph_call *call, struct sc_graph_use *use)
{
    use->from = origin_of(call);
    if (sc_unlikely(is_on_stack(use))) {
        struct sc_graph_extra extra = note_stack(use);
        sc_track_graph_add(&sc_track, call->graph, use, &extra);
    } else {
        sc_track_graph_add(&sc_track, call->graph, use, NULL);
    }
}

void sc_graphs_note_use(const struct sc_graph_call *call, const struct sc_op_info *op)
{
    if (op->direction == SC_PREFETCH)
        return;
    struct sc_graph_use use = {
        .shape = op->shape, .direction = op->direction, .kind = op->kind, .range = op->range};
    add_use(call, &use);
}

static void note_box(const struct sc_graph_call *call, uintptr_t node, enum sc_direction direction,
                     const struct sc_box *box)
{
    if (!box->used || sc_shape_hull_bytes(&box->shape) == 0)
        return;
    struct sc_graph_use use = bare_use(node, direction, box);
    add_use(call, &use);
}

static void note_copy(const struct sc_graph_call *call, uintptr_t node, const CUDA_MEMCPY3D *copy)
{
    struct sc_boxes boxes = sc_boxes_of_3d(copy);
    note_box(call, node, SC_H2D, &boxes.src);
    note_box(call, node, SC_D2H, &boxes.dst);
}

struct sc_box sc_graphs_box_of_memset(const CUDA_MEMSET_NODE_PARAMS *fill)
{
    size_t width = fill ? fill->width * fill->elementSize : 0;
    struct sc_box box = {0};
    if (!width || !fill->height)
        return box;
    box = sc_box_at(fill->dst, width);
    box.used = true; /* pinned memory that was freed since is not known any more */
    box.shape.rows = fill->height;
    if (fill->height > 1)
        box.shape.pitch_bytes = fill->pitch;
    return box;
}

static void note_memset(const struct sc_graph_call *call, uintptr_t node,
                        const CUDA_MEMSET_NODE_PARAMS *fill)
{
    struct sc_box box = sc_graphs_box_of_memset(fill);
    box.used = box.known;
    note_box(call, node, SC_MEMSET, &box);
}

/* What the other names, too: a clone, a child. */
static void note_all(uintptr_t graph, CUgraph of)
{
    sc_track_graph_add_all(&sc_track, graph, (uintptr_t)of);
    sc_strays_add_all(graph, of);
}

static void note_node(const struct sc_graph_call *call, uintptr_t node,
                      const CUgraphNodeParams *params)
{
    if (params->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        note_copy(call, node, &params->memcpy.copyParams);
    else if (params->type == CU_GRAPH_NODE_TYPE_MEMSET) {
        CUDA_MEMSET_NODE_PARAMS fill = {
            .dst = params->memset.dst,
            .pitch = params->memset.pitch,
            .value = params->memset.value,
            .elementSize = params->memset.elementSize,
            .width = params->memset.width,
            .height = params->memset.height,
        };
        note_memset(call, node, &fill);
    } else if (params->type == CU_GRAPH_NODE_TYPE_GRAPH)
        note_all(call->graph, params->graph.graph);
}

static void note_added(const struct sc_graph_call *call, CUgraphNode node,
                       const CUgraphNodeParams *params)
{
    if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        sc_bodies_note(node, &params->conditional);
    else
        note_node(call, (uintptr_t)node, params);
}

/* ---- nodes added by hand ---- */

#define CALL_OF(graph)                                                                             \
    {                                                                                              \
        (uintptr_t)(graph), API, SC_SITE(), 0                                                      \
    }

#define ADD(symbol, parameters, arguments, note)                                                   \
    SC_DEFINE(                                                                                     \
        symbol, parameters, CUresult result = REAL arguments;                                      \
        if (result == CUDA_SUCCESS && sc_active()) {                                               \
            const struct sc_graph_call call = CALL_OF(graph);                                      \
            note;                                                                                  \
        } return result;)

ADD(cuGraphAddMemcpyNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
     const CUDA_MEMCPY3D *copy, CUcontext context),
    (node, graph, dependencies, count, copy, context), note_copy(&call, (uintptr_t)*node, copy))

ADD(cuGraphAddMemsetNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
     const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context),
    (node, graph, dependencies, count, fill, context), note_memset(&call, (uintptr_t)*node, fill))

ADD(cuGraphAddChildGraphNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
     CUgraph child),
    (node, graph, dependencies, count, child), note_all(call.graph, child))

ADD(cuGraphAddNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
     CUgraphNodeParams *params),
    (node, graph, dependencies, count, params), note_added(&call, *node, params))

ADD(cuGraphAddNode_v2,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies,
     const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *params),
    (node, graph, dependencies, edges, count, params), note_added(&call, *node, params))

#define CHANGE(symbol, parameters, arguments, note)                                                \
    SC_DEFINE(                                                                                     \
        symbol, parameters, const struct sc_former former = sc_strays_former(node);                \
        CUresult result = REAL arguments; if (result == CUDA_SUCCESS && sc_active()) {             \
            const struct sc_graph_call call = CALL_OF(sc_strays_changed(node, &former));           \
            note;                                                                                  \
        } return result;)

CHANGE(cuGraphMemcpyNodeSetParams, (CUgraphNode node, const CUDA_MEMCPY3D *copy), (node, copy),
       note_copy(&call, (uintptr_t)node, copy))
CHANGE(cuGraphMemsetNodeSetParams, (CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *fill),
       (node, fill), note_memset(&call, (uintptr_t)node, fill))
CHANGE(cuGraphNodeSetParams, (CUgraphNode node, CUgraphNodeParams *params), (node, params),
       note_node(&call, (uintptr_t)node, params))

/* ---- graphs ---- */

SC_DEFINE(cuGraphClone, (CUgraph * clone, CUgraph original),
          CUresult result = REAL(clone, original);
          if (result == CUDA_SUCCESS && sc_active()) note_all((uintptr_t)*clone, original);
          return result;)

static uint32_t destroying(const void *handle)
{
    return sc_active() ? sc_track_graph_detach(&sc_track, (uintptr_t)handle) : 0;
}

static CUresult bodies_destroyed(struct sc_bodies *bodies, CUresult result)
{
    if (bodies && result != CUDA_SUCCESS)
        sc_bodies_put_back(bodies);
    else if (bodies && sc_bodies_end(bodies))
        sc_reaper_wake();
    return result;
}

static CUresult destroyed(uint32_t known, CUresult result)
{
    if (known && result != CUDA_SUCCESS)
        sc_track_graph_attach(&sc_track, known);
    else if (known && sc_track_graph_remove(&sc_track, known))
        sc_reaper_wake();
    return result;
}

SC_DEFINE(cuGraphDestroy, (CUgraph graph),
          struct sc_bodies *bodies = sc_bodies_take_of_graph(graph);
          sc_strays_forget(graph); uint32_t known = destroying(graph);
          return bodies_destroyed(bodies, destroyed(known, REAL(graph)));)
SC_DEFINE(cuGraphDestroyNode, (CUgraphNode node),
          struct sc_bodies *bodies = sc_bodies_take_of_node(node);
          const struct sc_former former = sc_strays_former(node);
          uint32_t known = sc_strays_destroying(node);
          CUresult result = bodies_destroyed(bodies, destroyed(known, REAL(node)));
          if (result == CUDA_SUCCESS && sc_active()) sc_strays_destroyed(node, &former);
          return result;)
SC_DEFINE(cuGraphExecDestroy, (CUgraphExec exec), uint32_t known = destroying(exec);
          return destroyed(known, SC_PERMITTED(REAL(exec)));)

/* ---- execs ---- */

struct making {
    struct sc_graph_call call; /* with the exec as the graph */
    uintptr_t graph;           /* that it is made from */
    struct sc_handles *names;  /* its nodes -> the exec's; NULL: they are the same */
};

/* By which the exec's uses know a node. */
static uintptr_t name_of(const struct making *making, CUgraphNode node)
{
    uint64_t name = making->names ? sc_handles_get(making->names, (uintptr_t)node) : 0;
    return name ? (uintptr_t)name : (uintptr_t)node;
}

static void note_nodes(const struct making *making, CUgraph graph, uintptr_t top, int depth);

CUgraphNode *sc_graphs_nodes(CUgraph graph, size_t *count)
{
    size_t room = 0;
    CUgraphNode *nodes = NULL;
    if (sc_real.cuGraphGetNodes(graph, NULL, &room) == CUDA_SUCCESS && room)
        nodes = sc_pages_map(room * sizeof *nodes);
    *count = room;
    if (nodes && sc_real.cuGraphGetNodes(graph, nodes, count) != CUDA_SUCCESS) {
        sc_pages_unmap(nodes, room * sizeof *nodes);
        nodes = NULL;
    }
    return nodes;
}

/* `name` is what the exec calls the node. */
static void note_exec_box(const struct making *making, CUgraphNode node, uintptr_t name,
                          enum sc_direction direction, const struct sc_box *box)
{
    if (!box->used || sc_shape_hull_bytes(&box->shape) == 0)
        return;
    struct sc_graph_use use = bare_use(name, direction, box);
    struct sc_graph_extra extra;
    sc_track_graph_recognise(&sc_track, making->graph, (uintptr_t)node, &use, &extra);
    if (use.from.api)
        sc_track_graph_add(&sc_track, making->call.graph, &use, use.extra ? &extra : NULL);
    else if (direction != SC_MEMSET || box->known) /* or it is device memory */
        add_use(&making->call, &use);
}

/* Nodes that tell the host how far the graph has come. */
static bool is_signal(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_HOST || type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ||
           type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL || type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
}

/* Whether and how often a body runs, only the device knows: its memory is kept, and not judged. */
static void note_bodies(const struct making *making, CUgraphNode node, uintptr_t name, int depth)
{
    struct making within = *making;
    CUgraph body;
    for (uint32_t i = 0; (body = sc_bodies_at(node, i)) != NULL; i++) {
        within.graph = (uintptr_t)body;
        note_nodes(&within, body, name, depth + 1);
    }
    sc_track_graph_unjudge_node(&sc_track, making->call.graph, name);
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
        struct sc_boxes boxes = sc_boxes_of_3d(&copy);
        note_exec_box(making, node, name, SC_H2D, &boxes.src);
        note_exec_box(making, node, name, SC_D2H, &boxes.dst);
    } else if (type == CU_GRAPH_NODE_TYPE_MEMSET &&
               sc_real.cuGraphMemsetNodeGetParams(node, &fill) == CUDA_SUCCESS) {
        struct sc_box box = sc_graphs_box_of_memset(&fill);
        note_exec_box(making, node, name, SC_MEMSET, &box);
    } else if (type == CU_GRAPH_NODE_TYPE_GRAPH &&
               sc_real.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS) {
        note_nodes(making, child, name, depth + 1);
    } else if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
        note_bodies(making, node, name, depth);
    }
}

/* Nodes behind which the host may still write what the graph is to read. */
static bool awaits_host(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_HOST || type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT ||
           type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP || type == CU_GRAPH_NODE_TYPE_WAIT_EVENT;
}

typedef bool is_such(CUgraphNodeType type);

/* A child graph is such a node if one of its nodes is. */
static bool node_is(CUgraphNode node, is_such *such, int depth)
{
    CUgraphNodeType type;
    CUgraph child;
    size_t count = 0;
    bool found = false;
    if (sc_real.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
        return false;
    if (type != CU_GRAPH_NODE_TYPE_GRAPH)
        return such(type);
    if (depth > SC_GRAPH_DEPTH_MAX ||
        sc_real.cuGraphChildGraphNodeGetGraph(node, &child) != CUDA_SUCCESS)
        return false;
    CUgraphNode *nodes = sc_graphs_nodes(child, &count);
    for (size_t i = 0; nodes && i < count && !found; i++)
        found = node_is(nodes[i], such, depth + 1);
    if (nodes)
        sc_pages_unmap(nodes, count * sizeof *nodes);
    return found;
}

typedef size_t neighbours(CUgraphNode node, CUgraphNode *room, size_t count);

static size_t nodes_before(CUgraphNode node, CUgraphNode *room, size_t count)
{
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if (sc_real.cuGraphNodeGetDependencies_v2)
        result = sc_real.cuGraphNodeGetDependencies_v2(node, room, NULL, &count);
    else if (sc_real.cuGraphNodeGetDependencies)
        result = sc_real.cuGraphNodeGetDependencies(node, room, &count);
    return result == CUDA_SUCCESS ? count : 0;
}

static size_t nodes_behind(CUgraphNode node, CUgraphNode *room, size_t count)
{
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if (sc_real.cuGraphNodeGetDependentNodes_v2)
        result = sc_real.cuGraphNodeGetDependentNodes_v2(node, room, NULL, &count);
    else if (sc_real.cuGraphNodeGetDependentNodes)
        result = sc_real.cuGraphNodeGetDependentNodes(node, room, &count);
    return result == CUDA_SUCCESS ? count : 0;
}

/* `waiting` has room for each node once, and `found` for the neighbours of one. */
static void unjudge_from(const struct making *making, uintptr_t top, CUgraphNode *waiting,
                         CUgraphNode *found, size_t count, neighbours *next,
                         struct sc_handles *visited)
{
    size_t left = 1;
    while (left) {
        CUgraphNode node = waiting[--left];
        size_t reached = next(node, found, count);
        for (size_t i = 0; i < reached && i < count; i++) {
            if (sc_handles_get(visited, (uintptr_t)found[i]) ||
                sc_handles_put(visited, (uintptr_t)found[i], 1) != 0)
                continue;
            sc_track_graph_unjudge_node(&sc_track, making->call.graph,
                                        top ? top : name_of(making, found[i]));
            waiting[left++] = found[i];
        }
    }
}

/* What a signal stands behind is done when the host hears of it; what stands behind a node that
 * waits for the host may be written until then. */
static void unjudge(const struct making *making, const CUgraphNode *nodes, size_t count,
                    uintptr_t top, is_such *such, neighbours *next)
{
    struct sc_handles visited;
    CUgraphNode *room = sc_pages_map(2 * count * sizeof *room);
    if (room && sc_handles_init(&visited) == 0) {
        for (size_t i = 0; i < count; i++)
            if (node_is(nodes[i], such, 0)) {
                room[0] = nodes[i];
                unjudge_from(making, top, room, room + count, count, next, &visited);
            }
        sc_handles_destroy(&visited);
    }
    if (room)
        sc_pages_unmap(room, 2 * count * sizeof *room);
}

static bool names_memory(uintptr_t graph)
{
    uint32_t id = sc_graphs_find(&sc_track.graphs, graph);
    return id && sc_graphs_at(&sc_track.graphs, id)->uses.count;
}

static bool may_matter(CUgraphNodeType type)
{
    return is_signal(type) || awaits_host(type) || type == CU_GRAPH_NODE_TYPE_GRAPH;
}

static void note_nodes(const struct making *making, CUgraph graph, uintptr_t top, int depth)
{
    size_t count = 0;
    bool matters = false;
    CUgraphNodeType type;
    CUgraphNode *nodes = depth < SC_GRAPH_DEPTH_MAX ? sc_graphs_nodes(graph, &count) : NULL;
    for (size_t i = 0; nodes && i < count; i++) {
        if (sc_real.cuGraphNodeGetType(nodes[i], &type) != CUDA_SUCCESS)
            continue;
        note_exec_node(making, nodes[i], type, top, depth);
        matters |= may_matter(type);
    }
    if (matters && names_memory(making->call.graph)) {
        unjudge(making, nodes, count, top, is_signal, nodes_before);
        unjudge(making, nodes, count, top, awaits_host, nodes_behind);
    }
    if (nodes)
        sc_pages_unmap(nodes, count * sizeof *nodes);
}

bool sc_graphs_can_ask(void)
{
    return sc_real.cuGraphGetNodes && sc_real.cuGraphNodeGetType &&
           sc_real.cuGraphMemcpyNodeGetParams && sc_real.cuGraphMemsetNodeGetParams &&
           sc_real.cuGraphChildGraphNodeGetGraph;
}

/* ---- sources on a stack: an exec is made from nodes that read the copy instead ---- */

static void use_instead(CUDA_MEMCPY3D *copy, enum sc_direction direction, void *saved)
{
    if (direction == SC_H2D) {
        copy->srcMemoryType = CU_MEMORYTYPE_HOST;
        copy->srcHost = saved;
        copy->srcDevice = 0;
        copy->srcXInBytes = copy->srcY = copy->srcZ = 0;
    } else {
        copy->dstMemoryType = CU_MEMORYTYPE_HOST;
        copy->dstHost = saved;
        copy->dstDevice = 0;
        copy->dstXInBytes = copy->dstY = copy->dstZ = 0;
    }
}

struct redirected {
    CUgraphNode node;
    CUgraphNode top; /* itself, or the child graph's node that it is part of */
    CUDA_MEMCPY3D before;
};

struct detached {
    struct redirected *list; /* NULL: the graph names no stack */
    size_t count, capacity;
};

static bool redirect_side(uintptr_t graph, CUgraphNode node, enum sc_direction direction,
                          const struct sc_box *box, CUDA_MEMCPY3D *copy)
{
    struct sc_graph_use use = {.shape = box->shape, .direction = direction};
    struct sc_graph_extra extra;
    if (!box->used)
        return false;
    sc_track_graph_recognise(&sc_track, graph, (uintptr_t)node, &use, &extra);
    if (use.kind != SC_STACK || !extra.saved)
        return false;
    use_instead(copy, direction, extra.saved);
    return true;
}

static void redirect_node(struct detached *detached, uintptr_t graph, CUgraphNode node,
                          CUgraphNode top)
{
    CUDA_MEMCPY3D copy;
    if (detached->count == detached->capacity ||
        sc_real.cuGraphMemcpyNodeGetParams(node, &copy) != CUDA_SUCCESS)
        return;
    struct sc_boxes boxes = sc_boxes_of_3d(&copy);
    struct redirected *entry = &detached->list[detached->count];
    *entry = (struct redirected){node, top, copy};
    bool source = redirect_side(graph, node, SC_H2D, &boxes.src, &copy);
    bool destination = redirect_side(graph, node, SC_D2H, &boxes.dst, &copy);
    if (source || destination)
        detached->count += sc_real.cuGraphMemcpyNodeSetParams(node, &copy) == CUDA_SUCCESS;
}

static void redirect_nodes(struct detached *detached, uintptr_t graph, CUgraph nodes_of,
                           CUgraphNode top, int depth);

static void redirect_bodies(struct detached *detached, CUgraphNode node, CUgraphNode top, int depth)
{
    CUgraph body;
    for (uint32_t i = 0; (body = sc_bodies_at(node, i)) != NULL; i++)
        redirect_nodes(detached, (uintptr_t)body, body, top, depth + 1);
}

static void redirect_nodes(struct detached *detached, uintptr_t graph, CUgraph nodes_of,
                           CUgraphNode top, int depth)
{
    size_t count = 0;
    CUgraphNodeType type;
    CUgraph child;
    CUgraphNode *nodes = depth < SC_GRAPH_DEPTH_MAX ? sc_graphs_nodes(nodes_of, &count) : NULL;
    for (size_t i = 0; nodes && i < count; i++) {
        if (sc_real.cuGraphNodeGetType(nodes[i], &type) != CUDA_SUCCESS)
            continue;
        if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
            redirect_node(detached, graph, nodes[i], top ? top : nodes[i]);
        else if (type == CU_GRAPH_NODE_TYPE_GRAPH &&
                 sc_real.cuGraphChildGraphNodeGetGraph(nodes[i], &child) == CUDA_SUCCESS)
            redirect_nodes(detached, graph, child, top ? top : nodes[i], depth + 1);
        else if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            redirect_bodies(detached, nodes[i], top ? top : nodes[i], depth);
    }
    if (nodes)
        sc_pages_unmap(nodes, count * sizeof *nodes);
}

bool sc_graphs_frame_lives(const struct sc_graph_use *use, const struct sc_graph_extra *extra)
{
    uintptr_t found = 0;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    bool own = sc_signals_is_stack(here, 1) && use->from.thread == sc_thread_id();
    if (own && use->shape.address < here)
        return false;
    return !extra->return_slot ||
           (sc_peek(&found, extra->return_slot, sizeof found) && found == extra->return_address);
}

bool sc_graphs_refresh(const struct sc_graph_use *use, const struct sc_graph_extra *extra)
{
    bool lives = sc_graphs_frame_lives(use, extra);
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
            sc_graphs_refresh(&use, &extra);
    return sc_graphs_at(&sc_track.graphs, id)->uses.count;
}

/* The same, with its bodies. */
static size_t refresh_within(CUgraph graph, int depth)
{
    size_t uses = refresh_graph((uintptr_t)graph);
    size_t count = 0;
    CUgraph body;
    bool looks = sc_bodies_are_any() && depth < SC_GRAPH_DEPTH_MAX;
    CUgraphNode *nodes = looks ? sc_graphs_nodes(graph, &count) : NULL;
    for (size_t i = 0; nodes && i < count; i++)
        for (uint32_t j = 0; (body = sc_bodies_at(nodes[i], j)) != NULL; j++)
            uses += refresh_within(body, depth + 1);
    if (nodes)
        sc_pages_unmap(nodes, count * sizeof *nodes);
    return uses;
}

static struct detached detach_from_stacks(CUgraph graph)
{
    struct detached detached = {0};
    if (sc_active() && sc_graphs_can_ask())
        detached.capacity = refresh_within(graph, 0);
    if (!detached.capacity)
        return detached;
    detached.list = sc_pages_map(detached.capacity * sizeof *detached.list);
    if (detached.list)
        redirect_nodes(&detached, (uintptr_t)graph, graph, NULL, 0);
    return detached;
}

static void attach_again(const struct detached *detached)
{
    for (size_t i = 0; i < detached->count; i++)
        sc_real.cuGraphMemcpyNodeSetParams(detached->list[i].node, &detached->list[i].before);
}

/* The exec has been made from the nodes as they were. */
static void note_redirected(const struct detached *detached, const struct making *making)
{
    for (size_t i = 0; i < detached->count; i++)
        sc_track_graph_redirect_node(&sc_track, making->call.graph,
                                     name_of(making, detached->list[i].top));
}

static void end_detached(struct detached *detached)
{
    if (detached->list)
        sc_pages_unmap(detached->list, detached->capacity * sizeof *detached->list);
}

static void note_exec(const struct making *making, const struct detached *detached, CUgraph graph)
{
    struct sc_relaxed relaxed = sc_relaxed_begin();
    const struct sc_context *context = sc_streams_current_context();
    sc_track_graph_begin_exec(&sc_track, making->call.graph, context ? context->legacy : 0);
    note_nodes(making, graph, 0, 0);
    note_redirected(detached, making);
    sc_track_graph_make_runs(&sc_track, making->call.graph);
    sc_relaxed_end(&relaxed);
}

static void keep_names(uintptr_t exec, CUgraph graph)
{
    size_t count = 0;
    CUgraphNode *nodes = names_memory(exec) ? sc_graphs_nodes(graph, &count) : NULL;
    if (!nodes)
        return;
    sc_track_graph_set_names(&sc_track, exec, (const uintptr_t *)nodes, (uint32_t)count);
    sc_pages_unmap(nodes, count * sizeof *nodes);
}

/* The driver pairs the nodes of two graphs that are built alike by their order. */
static bool pair_names(uintptr_t exec, CUgraph graph, struct sc_handles *names)
{
    size_t count = 0;
    CUgraphNode *nodes = names_memory(exec) ? sc_graphs_nodes(graph, &count) : NULL;
    uintptr_t *known = nodes ? sc_pages_map(count * sizeof *known) : NULL;
    bool paired = known && sc_track_graph_names_of(&sc_track, exec, known, (uint32_t)count) &&
                  sc_handles_init(names) == 0;
    for (size_t i = 0; paired && i < count; i++)
        sc_handles_put(names, (uintptr_t)nodes[i], known[i]);
    if (known)
        sc_pages_unmap(known, count * sizeof *known);
    if (nodes)
        sc_pages_unmap(nodes, count * sizeof *nodes);
    return paired;
}

static CUresult made(CUresult result, struct detached *detached, const struct sc_graph_call *call,
                     CUgraph graph)
{
    int saved = errno;
    attach_again(detached);
    if (result == CUDA_SUCCESS && sc_active() && sc_graphs_can_ask()) {
        note_exec(&(struct making){*call, (uintptr_t)graph, NULL}, detached, graph);
        keep_names(call->graph, graph);
    }
    end_detached(detached);
    errno = saved;
    return result;
}

static CUresult updated(CUresult result, struct detached *detached,
                        const struct sc_graph_call *call, CUgraph graph)
{
    int saved = errno;
    attach_again(detached);
    if (result == CUDA_SUCCESS && sc_active() && sc_graphs_can_ask()) {
        struct sc_handles names;
        bool paired = pair_names(call->graph, graph, &names);
        note_exec(&(struct making){*call, (uintptr_t)graph, paired ? &names : NULL}, detached,
                  graph);
        if (paired)
            sc_handles_destroy(&names);
    }
    end_detached(detached);
    errno = saved;
    return result;
}

#define MAKE(symbol, parameters, arguments, exec)                                                  \
    SC_DEFINE(symbol, parameters, struct detached detached = detach_from_stacks(graph);            \
              CUresult result = SC_PERMITTED(REAL arguments);                                      \
              const struct sc_graph_call call = CALL_OF(result ? NULL : (exec));                   \
              return made(result, &detached, &call, graph);)

MAKE(cuGraphInstantiate,
     (CUgraphExec * exec, CUgraph graph, CUgraphNode *error, char *log, size_t log_bytes),
     (exec, graph, error, log, log_bytes), *exec)
MAKE(cuGraphInstantiate_v2,
     (CUgraphExec * exec, CUgraph graph, CUgraphNode *error, char *log, size_t log_bytes),
     (exec, graph, error, log, log_bytes), *exec)
MAKE(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, unsigned long long flags),
     (exec, graph, flags), *exec)
MAKE(cuGraphInstantiateWithParams,
     (CUgraphExec * exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
     (exec, graph, params), *exec)
MAKE(cuGraphInstantiateWithParams_ptsz,
     (CUgraphExec * exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
     (exec, graph, params), *exec)
#define UPDATE(symbol, parameters, arguments)                                                      \
    SC_DEFINE(symbol, parameters, struct detached detached = detach_from_stacks(graph);            \
              CUresult result = sc_permit_refused(API, SC_SITE(), REAL arguments);                 \
              const struct sc_graph_call call = CALL_OF(exec);                                     \
              return updated(result, &detached, &call, graph);)

UPDATE(cuGraphExecUpdate,
       (CUgraphExec exec, CUgraph graph, CUgraphNode *error, CUgraphExecUpdateResult *info),
       (exec, graph, error, info))
UPDATE(cuGraphExecUpdate_v2, (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info),
       (exec, graph, info))

/* Where a node stands, and whether it is enabled, stays as it was. */
static void changed(const struct sc_graph_call *call, uintptr_t node, struct sc_graph_flags flags)
{
    if (flags.unjudged)
        sc_track_graph_unjudge_node(&sc_track, call->graph, node);
    if (flags.disabled)
        sc_track_graph_enable_node(&sc_track, call->graph, node, false);
}

#define EXEC_CHANGE(symbol, parameters, arguments, note)                                           \
    SC_DEFINE(                                                                                     \
        symbol, parameters, CUresult result = REAL arguments;                                      \
        if (result == CUDA_SUCCESS && sc_active()) {                                               \
            const struct sc_graph_call call = CALL_OF(exec);                                       \
            struct sc_graph_flags flags =                                                          \
                sc_track_graph_flags(&sc_track, call.graph, (uintptr_t)node);                      \
            sc_track_graph_drop_node(&sc_track, call.graph, (uintptr_t)node);                      \
            note;                                                                                  \
            changed(&call, (uintptr_t)node, flags);                                                \
        } return result;)

/* A source on a stack is replaced by the copy that the use keeps of it. */
static CUresult set_exec_copy(const struct sc_graph_call *call, CUgraphExec exec, CUgraphNode node,
                              const CUDA_MEMCPY3D *copy, CUcontext context,
                              __typeof__(&cuGraphExecMemcpyNodeSetParams) real)
{
    CUresult result = real(exec, node, copy, context);
    if (result != CUDA_SUCCESS || !sc_active())
        return result;
    struct sc_graph_flags flags = sc_track_graph_flags(&sc_track, call->graph, (uintptr_t)node);
    sc_track_graph_drop_node(&sc_track, call->graph, (uintptr_t)node);
    note_copy(call, (uintptr_t)node, copy);
    CUDA_MEMCPY3D kept = *copy;
    void *source = sc_track_graph_saved(&sc_track, call->graph, (uintptr_t)node, SC_H2D);
    void *destination = sc_track_graph_saved(&sc_track, call->graph, (uintptr_t)node, SC_D2H);
    if (source)
        use_instead(&kept, SC_H2D, source);
    if (destination)
        use_instead(&kept, SC_D2H, destination);
    if ((source || destination) && real(exec, node, &kept, context) == CUDA_SUCCESS)
        sc_track_graph_redirect_node(&sc_track, call->graph, (uintptr_t)node);
    changed(call, (uintptr_t)node, flags);
    return result;
}

SC_DEFINE(cuGraphExecMemcpyNodeSetParams,
          (CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy, CUcontext context),
          const struct sc_graph_call call = CALL_OF(exec);
          return set_exec_copy(&call, exec, node, copy, context, REAL);)

EXEC_CHANGE(cuGraphExecMemsetNodeSetParams,
            (CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *fill,
             CUcontext context),
            (exec, node, fill, context), note_memset(&call, (uintptr_t)node, fill))
EXEC_CHANGE(cuGraphExecNodeSetParams,
            (CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params), (exec, node, params),
            note_node(&call, (uintptr_t)node, params))
EXEC_CHANGE(cuGraphExecChildGraphNodeSetParams, (CUgraphExec exec, CUgraphNode node, CUgraph child),
            (exec, node, child),
            note_nodes(&(struct making){call, (uintptr_t)child, NULL}, child, (uintptr_t)node, 1))

SC_DEFINE(cuGraphNodeSetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned enabled),
          CUresult result = REAL(exec, node, enabled);
          if (result == CUDA_SUCCESS && sc_active())
              sc_track_graph_enable_node(&sc_track, (uintptr_t)exec, (uintptr_t)node, enabled);
          return result;)
