#include "interpose/calls/graph_calls.h"

#include "interpose/base/process.h"
#include "interpose/capture/beside.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/newer_cupti.h"
#include "interpose/driver/replaying.h"
#include "interpose/driver/rows.h"
#include "interpose/driver/wrap.h"
#include "interpose/graph/conditional_bodies.h"
#include "interpose/graph/node_uses.h"
#include "interpose/graph/orphan_nodes.h"
#include "interpose/reaper/reaper.h"
#include "track/graph_frees.h"
#include "track/track.h"

#include "common/poison.h"

/* ---- nodes added by hand ---- */

/* Called behind a call that adds a node to a graph by hand. If a capture has added to that graph as
 * well, it is no longer known what its launches write, which counts where a captured graph lacks
 * work (SC305). Returns `result`. */
static CUresult note_added(CUresult result, CUgraph graph)
{
    if (sc_beside_follows_graphs() && result == CUDA_SUCCESS)
        sc_beside_note_node_added((uintptr_t)graph);
    return result;
}

/* Notes, for future launches, what a node does that was added to a graph. `child`: the child graph
 * that the program has given the node, or NULL. A conditional node has graphs of its own (bodies),
 * which the driver names to this call alone. */
static void note_node(const struct sc_graph_call *by, CUgraphNode node,
                      const CUgraphNodeParams *params, CUgraph child)
{
    if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        sc_conditional_bodies_note((CUgraph)by->graph, node, &params->conditional);
    else
        sc_node_uses_note_node(by, (uintptr_t)node, params, child);
}

/* Makes a condition for a node that is added later: its first value says which graph of the node a
 * launch is certain to run. */
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph,
                                        CUcontext context, unsigned value, unsigned flags)
{
    SC_WRAPPER(cuGraphConditionalHandleCreate);
    CUresult result = real(handle, graph, context, value, flags);
    if (result == CUDA_SUCCESS && sc_active())
        sc_conditional_bodies_note_handle(graph, *handle, flags & CU_GRAPH_COND_ASSIGN_DEFAULT,
                                          value);
    return result;
}

/* Called when the driver has answered cuGraphAddNode: notes what memory the new node uses, for
 * future launches. Returns `result`. */
static CUresult end_add_node(const struct sc_call *call, CUresult result, const CUgraphNode *node,
                             CUgraph graph, const CUgraphNodeParams *params, CUgraph child)
{
    if (result == CUDA_SUCCESS && sc_active()) {
        const struct sc_graph_call by = sc_graph_call((uintptr_t)graph, call);
        note_node(&by, *node, params, child);
    }
    return note_added(result, graph);
}

/* Adds a node of any type. The child graph in `params` is read before the call, since the driver
 * may put another handle there. */
CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                        size_t count, CUgraphNodeParams *params)
{
    SC_WRAPPER(cuGraphAddNode);
    CUgraph child = sc_node_uses_child_of(params);
    sc_node_uses_begin_node(params);
    CUresult result = real(node, graph, dependencies, count, params);
    return end_add_node(call, result, node, graph, params, child);
}

/* Adds a node of any type, by edges that say what part of a node they wait for. The child graph in
 * `params` is read before the call, since the driver may put another handle there. */
SC_VERSIONS(cuGraphAddNode_v2, cuGraphAddNode_v3,
            (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies,
             const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *params),
            (node, graph, dependencies, edges, count, params))
{
    CUgraph child = sc_node_uses_child_of(params);
    sc_node_uses_begin_node(params);
    CUresult result = real(node, graph, dependencies, edges, count, params);
    return end_add_node(call, result, node, graph, params, child);
}

/* ---- nodes changed ---- */

/* Called behind a call that changes or destroys a node, of a graph that the library may not know:
 * tells those who look for work that captured graphs lack (SC305), since any of these graphs may do
 * something else now. Returns `result`. */
static CUresult note_changed(CUresult result)
{
    if (sc_beside_follows_graphs() && result == CUDA_SUCCESS)
        sc_beside_note_node_changed();
    return result;
}

/* Wrapper of the driver's function (`real`). What a kernel node does with memory is noted when the
 * graph is instantiated, so only those have to be told who look for work that captured graphs lack
 * (SC305). */
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    SC_WRAPPER(cuGraphKernelNodeSetParams);
    return note_changed(real(node, params));
}

/* Wrapper of the driver's function (`real`). What a kernel node does with memory is noted when the
 * graph is instantiated, so only those have to be told who look for work that captured graphs lack
 * (SC305). */
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    SC_WRAPPER(cuGraphKernelNodeSetParams_v2);
    return note_changed(real(node, params));
}

/* ---- the rows of api.def ---- */

#define NODE_COPY(params) sc_node_uses_note_copy(&by, node, params)
#define NODE_FILL(params) sc_node_uses_note_memset(&by, node, params)
#define NODE_ANY(params) sc_node_uses_note_node(&by, node, params, NULL)
#define NODE_CHILD(child) ((void)node, sc_node_uses_note_all(by.graph, child))
#define NODE_KERNEL ((void)by, (void)node)
#define BEGIN_COPY(params) sc_node_uses_begin_copy(params)
#define BEGIN_FILL(params) sc_node_uses_begin_memset(params)
#define BEGIN_ANY(params) sc_node_uses_begin_node(params)
#define BEGIN_CHILD(child) ((void)0)
#define BEGIN_KERNEL ((void)0)

#define SC_ADDS_NODE(name, suffix, version, replay, arguments, does)                               \
    CUresult name##suffix SC_PARAMETERS(name##suffix, arguments)                                   \
    {                                                                                              \
        SC_WRAPPER(name##suffix);                                                                  \
        BEGIN_##does;                                                                              \
        CUresult result = real arguments;                                                          \
        if (result == CUDA_SUCCESS && sc_active()) {                                               \
            const struct sc_graph_call by = sc_graph_call((uintptr_t)hGraph, call);                \
            const uintptr_t node = (uintptr_t)*phGraphNode;                                        \
            NODE_##does;                                                                           \
        }                                                                                          \
        return note_added(result, hGraph);                                                         \
    }

#define SC_SETS_NODE(name, suffix, version, arguments, does)                                       \
    CUresult name##suffix SC_PARAMETERS(name##suffix, arguments)                                   \
    {                                                                                              \
        SC_WRAPPER(name##suffix);                                                                  \
        const struct sc_former former = sc_orphan_nodes_describe(hNode);                           \
        BEGIN_##does;                                                                              \
        CUresult result = real arguments;                                                          \
        if (result == CUDA_SUCCESS && sc_active()) {                                               \
            const uintptr_t node = (uintptr_t)hNode;                                               \
            const uintptr_t graph = sc_orphan_nodes_changed(hNode, &former);                       \
            const struct sc_graph_call by = sc_graph_call(graph, call);                            \
            NODE_##does;                                                                           \
        }                                                                                          \
        return note_changed(result);                                                               \
    }
#include "interpose/driver/api.def"

/* The program learns the handle of a child graph, by which it may add nodes there. From now on such
 * nodes count as nodes of the graphs around, too. */
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *child)
{
    SC_WRAPPER(cuGraphChildGraphNodeGetGraph);
    sc_orphan_nodes_name_children();
    return real(node, child);
}

/* ---- user objects: their destructors tell the host that an exec's last launch is done ---- */

/* Has any graph ever retained a user object? */
static _Atomic bool has_user_objects;

/* Notes that user objects are in use: their destructors may tell the host that a launch is done. */
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags)
{
    SC_WRAPPER(cuGraphRetainUserObject);
    atomic_store_explicit(&has_user_objects, true, memory_order_relaxed);
    return real(graph, object, count, flags);
}

/* Called before an exec (an instantiated graph) is destroyed or changed: destructors of its user
 * objects may run when its last launch is done, and tell the program so unseen. Nothing to note
 * while no graph ever had a user object. */
void sc_graph_calls_note_release(const void *exec)
{
    if (atomic_load_explicit(&has_user_objects, memory_order_relaxed) && sc_active())
        SC_TRACKED(sc_graphs_note_launch_signal(track.graphs, (uintptr_t)exec));
}

/* ---- graphs ---- */

/* A clone has new nodes that use the same memory: they are noted by asking the driver. */
CUresult cuGraphClone(CUgraph *clone, CUgraph original)
{
    SC_WRAPPER(cuGraphClone);
    CUresult result = real(clone, original);
    if (result == CUDA_SUCCESS && sc_active())
        sc_node_uses_note_all((uintptr_t)*clone, original);
    return result;
}

/* Called before a graph or an exec is destroyed: takes the record off the handle, which the driver
 * may give to another graph before it returns. Returns the record's id; 0: there is none. */
uint32_t sc_graph_calls_begin_destroy(const void *handle)
{
    if (sc_beside_follows_graphs() && sc_active())
        sc_beside_forget_handle((uintptr_t)handle);
    return sc_active() ? SC_TRACKED(sc_graphs_detach(track.graphs, (uintptr_t)handle)) : 0;
}

/* Called when the driver has answered: frees the records of the bodies (graphs in conditional
 * nodes) of what was destroyed, or restores them if it has refused. NULL: there are none. A replay
 * (of a call that came through no wrapper) runs before the driver's call and not behind it: if the
 * driver then refuses, the bodies stay unknown. Returns `result`. */
static CUresult end_bodies(struct sc_conditional_bodies *bodies, CUresult result)
{
    if (bodies)
        sc_conditional_bodies_end(bodies, result == CUDA_SUCCESS || sc_replaying_is_on());
    return result;
}

/* Called when the driver has answered the destruction of a graph or exec: removes its record, which
 * sc_graph_calls_begin_destroy has taken off the handle, or puts it back if the driver has refused.
 * `known` 0: there is none. Returns `result`. */
CUresult sc_graph_calls_end_destroy(uint32_t known, CUresult result)
{
    if (known && result != CUDA_SUCCESS)
        SC_TRACKED(sc_graphs_attach(track.graphs, known));
    else if (known)
        sc_reaper_remove_graph(known);
    return result;
}

/* Destroys a graph. What is noted under handles of nodes and of bodies within it is dropped as
 * well, before the call, since the driver is asked for them. */
CUresult cuGraphDestroy(CUgraph graph)
{
    SC_WRAPPER(cuGraphDestroy);
    struct sc_conditional_bodies *bodies = sc_conditional_bodies_take_of_graph(graph);
    sc_orphan_nodes_forget(graph);
    uint32_t known = sc_graph_calls_begin_destroy(graph);
    return end_bodies(bodies, sc_graph_calls_end_destroy(known, real(graph)));
}

/* Destroys a node, of which the library may not know the graph: what the node did is asked for
 * before the call, and dropped after it wherever the same is noted. */
CUresult cuGraphDestroyNode(CUgraphNode node)
{
    SC_WRAPPER(cuGraphDestroyNode);
    struct sc_conditional_bodies *bodies = sc_conditional_bodies_take_of_node(node);
    const struct sc_former former = sc_orphan_nodes_describe(node);
    uint32_t known = sc_orphan_nodes_destroying(node);
    CUresult result = end_bodies(bodies, sc_graph_calls_end_destroy(known, real(node)));
    if (result == CUDA_SUCCESS && sc_active())
        sc_orphan_nodes_destroyed(node, &former);
    return note_changed(result);
}
