#include "interpose/calls/graph_calls.h"

#include "interpose/base/process.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"
#include "interpose/graph/conditional_bodies.h"
#include "interpose/graph/node_uses.h"
#include "interpose/graph/orphan_nodes.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/streams.h"
#include "track/track.h"

#include "track/poison.h"

/* ---- captures ---- */

/* ---- nodes added by hand ---- */

static void note_added(const struct sc_graph_call *call, CUgraphNode node,
                       const CUgraphNodeParams *params, CUgraph child)
{
    if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        sc_conditional_bodies_note(node, &params->conditional);
    else
        sc_node_uses_note_node(call, (uintptr_t)node, params, child);
}

#define ADD(symbol, parameters, arguments, note)                                                   \
    SC_DEFINE(                                                                                     \
        symbol, parameters, CUresult result = REAL arguments;                                      \
        if (result == CUDA_SUCCESS && sc_active()) {                                               \
            const struct sc_graph_call call = SC_GRAPH_CALL(graph);                                \
            note;                                                                                  \
        } return result;)

ADD(cuGraphAddMemcpyNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
     const CUDA_MEMCPY3D *copy, CUcontext context),
    (node, graph, dependencies, count, copy, context),
    sc_node_uses_note_copy(&call, (uintptr_t)*node, copy))

ADD(cuGraphAddMemsetNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
     const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context),
    (node, graph, dependencies, count, fill, context),
    sc_node_uses_note_memset(&call, (uintptr_t)*node, fill))

ADD(cuGraphAddChildGraphNode,
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
     CUgraph child),
    (node, graph, dependencies, count, child), sc_node_uses_note_all(call.graph, child))

#define ADD_ANY(symbol, parameters, arguments)                                                     \
    SC_DEFINE(                                                                                     \
        symbol, parameters, CUgraph child = sc_node_uses_child_of(params);                         \
        CUresult result = REAL arguments; if (result == CUDA_SUCCESS && sc_active()) {             \
            const struct sc_graph_call call = SC_GRAPH_CALL(graph);                                \
            note_added(&call, *node, params, child);                                               \
        } return result;)

ADD_ANY(cuGraphAddNode,
        (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
         CUgraphNodeParams *params),
        (node, graph, dependencies, count, params))

ADD_ANY(cuGraphAddNode_v2,
        (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies,
         const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *params),
        (node, graph, dependencies, edges, count, params))

#define CHANGE(symbol, parameters, arguments, note)                                                \
    SC_DEFINE(                                                                                     \
        symbol, parameters, const struct sc_former former = sc_orphan_nodes_former(node);          \
        CUresult result = REAL arguments; if (result == CUDA_SUCCESS && sc_active()) {             \
            const struct sc_graph_call call =                                                      \
                SC_GRAPH_CALL(sc_orphan_nodes_changed(node, &former));                             \
            note;                                                                                  \
        } return result;)

CHANGE(cuGraphMemcpyNodeSetParams, (CUgraphNode node, const CUDA_MEMCPY3D *copy), (node, copy),
       sc_node_uses_note_copy(&call, (uintptr_t)node, copy))
CHANGE(cuGraphMemsetNodeSetParams, (CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *fill),
       (node, fill), sc_node_uses_note_memset(&call, (uintptr_t)node, fill))
CHANGE(cuGraphNodeSetParams, (CUgraphNode node, CUgraphNodeParams *params), (node, params),
       sc_node_uses_note_node(&call, (uintptr_t)node, params, NULL))

SC_DEFINE(cuGraphChildGraphNodeGetGraph, (CUgraphNode node, CUgraph *child),
          sc_orphan_nodes_name_children();
          return REAL(node, child);)

/* ---- user objects: their destructors tell the host that an exec's last launch is done ---- */

static _Atomic bool objects_seen;

SC_DEFINE(cuGraphRetainUserObject,
          (CUgraph graph, CUuserObject object, unsigned count, unsigned flags),
          atomic_store_explicit(&objects_seen, true, memory_order_relaxed);
          return REAL(graph, object, count, flags);)

void sc_graph_calls_letting_go(const void *exec)
{
    if (!atomic_load_explicit(&objects_seen, memory_order_relaxed) || !sc_active())
        return;
    uint32_t id = sc_track_graph_signal_launch(&sc_track, (uintptr_t)exec);
    struct sc_stream_record *stream = id ? sc_streams_of_id(id) : NULL;
    if (!stream)
        return;
    pthread_mutex_lock(&stream->lock);
    if (stream->id == id && !sc_context_is_quiet(stream->context)) /* or recycled */
        sc_marks_add_locked(stream);
    pthread_mutex_unlock(&stream->lock);
}

/* ---- graphs ---- */

SC_DEFINE(cuGraphClone, (CUgraph * clone, CUgraph original),
          CUresult result = REAL(clone, original);
          if (result == CUDA_SUCCESS && sc_active())
              sc_node_uses_note_all((uintptr_t)*clone, original);
          return result;)

uint32_t sc_graph_calls_destroying(const void *handle)
{
    return sc_active() ? sc_track_graph_detach(&sc_track, (uintptr_t)handle) : 0;
}

static CUresult bodies_destroyed(struct sc_conditional_bodies *bodies, CUresult result)
{
    if (bodies && result != CUDA_SUCCESS)
        sc_conditional_bodies_put_back(bodies);
    else if (bodies && sc_conditional_bodies_end(bodies))
        sc_reaper_wake();
    return result;
}

CUresult sc_graph_calls_destroyed(uint32_t known, CUresult result)
{
    if (known && result != CUDA_SUCCESS)
        sc_track_graph_attach(&sc_track, known);
    else if (known && sc_track_graph_remove(&sc_track, known))
        sc_reaper_wake();
    return result;
}

SC_DEFINE(cuGraphDestroy, (CUgraph graph),
          struct sc_conditional_bodies *bodies = sc_conditional_bodies_take_of_graph(graph);
          sc_orphan_nodes_forget(graph); uint32_t known = sc_graph_calls_destroying(graph);
          return bodies_destroyed(bodies, sc_graph_calls_destroyed(known, REAL(graph)));)
SC_DEFINE(cuGraphDestroyNode, (CUgraphNode node),
          struct sc_conditional_bodies *bodies = sc_conditional_bodies_take_of_node(node);
          const struct sc_former former = sc_orphan_nodes_former(node);
          uint32_t known = sc_orphan_nodes_destroying(node);
          CUresult result = bodies_destroyed(bodies, sc_graph_calls_destroyed(known, REAL(node)));
          if (result == CUDA_SUCCESS && sc_active()) sc_orphan_nodes_destroyed(node, &former);
          return result;)
