/* Wrappers of calls that make, update, change and destroy execs (instantiated graphs). What an
 * exec's nodes do with memory is noted in graph/exec_uses.h. */

/* Terms (docs/glossary.md):
 *   exec: an instantiated graph (CUgraphExec)
 *   inner node: a node in a child graph or a body
 *   ledger: which memory the process has, and which call stack asked for it
 */

#include "common/op_kinds.h"
#include "common/unsure.h"
#include "interpose/base/process.h"
#include "interpose/calls/graph_calls.h"
#include "interpose/calls/memory.h"
#include "interpose/capture/beside.h"
#include "interpose/capture/permits.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/rows.h"
#include "interpose/driver/wrap.h"
#include "interpose/graph/device_nodes.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/graph/exec_uses.h"
#include "interpose/graph/host_nodes.h"
#include "interpose/graph/node_uses.h"
#include "interpose/graph/stack_sources.h"
#include "interpose/ledger/memory_kinds.h"
#include "track/graph_place.h"
#include "track/graphs.h"
#include "track/track.h"
#include "track/watched_nodes.h"

#include "common/poison.h"

/* ---- made, updated, changed ---- */

/* Notes what the nodes of an exec (an instantiated graph) do with memory: sc_exec_uses_note_made or
 * sc_exec_uses_note_updated. */
typedef void note_exec(const struct sc_graph_call *by, CUgraph graph,
                       const struct sc_stack_sources *redirects);

/* Called when the driver has answered a call that instantiates `graph` as `exec`, or updates `exec`
 * by it. During the call some nodes of the graph read copies of stack memory (`redirects`): the
 * program's graph gets its own parameters back. Then `note` notes what the exec's nodes do. Returns
 * `result`. */
static CUresult end_made(CUresult result, struct sc_stack_sources *redirects,
                         const struct sc_call *call, CUgraphExec exec, CUgraph graph,
                         note_exec *note)
{
    SC_KEEP_ERRNO();
    sc_stack_sources_undo(redirects);
    if (result == CUDA_SUCCESS && sc_active() && sc_driver_nodes_can_be_asked()) {
        const struct sc_graph_call by = sc_graph_call((uintptr_t)exec, call);
        note(&by, graph, redirects);
    }
    if (sc_beside_follows_graphs() && result == CUDA_SUCCESS)
        sc_beside_note_instantiated((uintptr_t)graph, (uintptr_t)exec);
    sc_stack_sources_end(redirects);
    return result;
}

/* Returns the entry of an exec (an instantiated graph) in the ledger of memory: it takes memory of
 * the device. */
static struct sc_memory exec_memory(CUgraphExec exec)
{
    return (struct sc_memory){.kind = SC_MEMORY_EXEC, .name = (uintptr_t)exec};
}

/* Enters the memory of a new exec (an instantiated graph) in the ledger of memory. NULL: the call
 * has failed. */
static void book_exec(const struct sc_call *call, CUgraphExec exec)
{
    const struct sc_memory memory = exec_memory(exec);
    if (exec)
        sc_memory_given(call, &memory);
}

#define SC_INSTANTIATES(name, suffix, version, variant, arguments)                                 \
    CUresult name##suffix SC_PARAMETERS(name##suffix, arguments)                                   \
    {                                                                                              \
        SC_WRAPPER(name##suffix);                                                                  \
        struct sc_stack_sources redirects = sc_stack_sources_begin(hGraph);                        \
        CUresult result = SC_PERMITTED(real arguments);                                            \
        CUgraphExec exec = result == CUDA_SUCCESS ? *phGraphExec : NULL;                           \
        book_exec(call, exec);                                                                     \
        return end_made(result, &redirects, call, exec, hGraph, sc_exec_uses_note_made);           \
    }
#include "interpose/driver/api.def"

#define UPDATES(symbol, parameters, arguments)                                                     \
    CUresult symbol parameters                                                                     \
    {                                                                                              \
        SC_WRAPPER(symbol);                                                                        \
        sc_graph_calls_note_release(exec);                                                         \
        struct sc_stack_sources redirects = sc_stack_sources_begin(graph);                         \
        CUresult result = sc_permit_report_refused(call, real arguments);                          \
        return end_made(result, &redirects, call, exec, graph, sc_exec_uses_note_updated);         \
    }

UPDATES(cuGraphExecUpdate,
        (CUgraphExec exec, CUgraph graph, CUgraphNode *error, CUgraphExecUpdateResult *info),
        (exec, graph, error, info))
UPDATES(cuGraphExecUpdate_v2, (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info),
        (exec, graph, info))

/* A change of one node of an exec, which gets new parameters. What the node does changes; what
 * follows from its place in the graph, and whether it is enabled, stays (`flags`). */
struct exec_change {
    struct sc_graph_call by; /* `inner`: the changed node, if it lies in a child graph or a body */
    uintptr_t node;          /* the changed node, or the outermost node around it */
    struct sc_graph_flags flags;
};

/* Drops what the changed node did, and returns its flags, which stay the same. A node in a child
 * graph or a body (an inner node) is kept under the outermost node around it. If it is not known
 * where the node lies, it may be any inner node: launches are judged by none of them any more, and
 * nothing is reported of the node itself. */
static struct sc_graph_flags drop_former(struct exec_change *change)
{
    uintptr_t exec = change->by.graph, node = change->node, outer;
    SC_TRACK_SCOPE(track);
    enum sc_graph_place place = sc_graphs_place_of(track.graphs, exec, node, &outer);
    if (place == SC_PLACE_INNER) {
        change->by.inner = node;
        change->node = outer;
        return sc_graphs_drop_inner(track.graphs, exec, outer, node);
    }
    struct sc_graph_flags flags = sc_graphs_get_flags(track.graphs, exec, node);
    sc_graphs_drop_node(track.graphs, exec, node);
    if (place == SC_PLACE_UNKNOWN) {
        sc_graphs_disable_inner(track.graphs, exec);
        flags.unsure |= SC_UNSURE_UNJUDGED | SC_UNSURE_UNJUDGED << SC_UNSURE_OF_DEVICE;
    }
    return flags;
}

/* Called when the driver has accepted new parameters of a node: drops what was known of the node,
 * except its flags. The caller then notes what the node does now, and calls end_edit. */
static struct exec_change begin_edit(const struct sc_call *call, CUgraphExec exec, CUgraphNode node)
{
    struct exec_change change = {.by = sc_graph_call((uintptr_t)exec, call),
                                 .node = (uintptr_t)node};
    if (sc_beside_follows_graphs())
        sc_beside_forget_handle((uintptr_t)exec); /* the exec may read other memory now */
    change.flags = drop_former(&change);
    return change;
}

/* Called when the new uses of a changed node are noted: gives them the flags that the node had
 * before (stage, what it tells the host, reasons for an uncertain order, disabled). */
static void end_edit(const struct exec_change *change)
{
    const struct sc_graph_flags *flags = &change->flags;
    uintptr_t exec = change->by.graph;
    SC_TRACK_SCOPE(track);
    if (change->by.inner) {
        sc_graphs_place_inner(track.graphs, exec, change->node, change->by.inner, flags);
        return;
    }
    if (flags->stage)
        sc_graphs_set_stage(track.graphs, exec, change->node, flags->stage);
    if (flags->tells)
        sc_graphs_set_notifies(track.graphs, exec, change->node, flags->tells);
    if (flags->unsure)
        sc_graphs_add_unsure(track.graphs, exec, change->node, flags->unsure);
    if (flags->disabled)
        sc_graphs_enable_node(track.graphs, exec, change->node, /*enabled=*/false);
}

/* Called when a copy node of an exec was given memory on a stack, whose frame may be gone by the
 * launch: the node is changed once more, to use a copy of the library's instead, if its new uses
 * have one (graph/stack_sources.h). */
static void keep_stack_sides(const struct exec_change *change, CUgraphExec exec, CUgraphNode node,
                             const CUDA_MEMCPY3D *copy, CUcontext context,
                             __typeof__(&cuGraphExecMemcpyNodeSetParams) set)
{
    CUDA_MEMCPY3D kept = *copy;
    if (change->by.inner) /* the copies within the outermost node are kept by its name, not by the
                             inner node's */
        return;
    void *source =
        SC_TRACKED(sc_graphs_find_saved(track.graphs, change->by.graph, change->node, SC_H2D));
    void *destination =
        SC_TRACKED(sc_graphs_find_saved(track.graphs, change->by.graph, change->node, SC_D2H));
    if (source)
        sc_stack_sources_redirect(&kept, SC_H2D, source);
    if (destination)
        sc_stack_sources_redirect(&kept, SC_D2H, destination);
    if ((source || destination) && set(exec, node, &kept, context) == CUDA_SUCCESS)
        SC_TRACKED(sc_graphs_redirect_node(track.graphs, change->by.graph, change->node));
}

/* Gives a copy node of an exec (an instantiated graph) other memory: what the node did is dropped,
 * and what it does now is noted. */
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D *copy, CUcontext context)
{
    SC_WRAPPER(cuGraphExecMemcpyNodeSetParams);
    sc_node_uses_begin_copy(copy);
    CUresult result = real(exec, node, copy, context);
    if (result != CUDA_SUCCESS || !sc_active())
        return result;
    struct exec_change change = begin_edit(call, exec, node);
    sc_node_uses_note_copy(&change.by, change.node, copy);
    keep_stack_sides(&change, exec, node, copy, context, real);
    end_edit(&change);
    return result;
}

#define NODE_FILL(params) sc_node_uses_note_memset(&change.by, change.node, params)
#define BEGIN_FILL(params) sc_node_uses_begin_memset(params)
#define BEGIN_RECORD(event) ((void)0)
#define BEGIN_WAIT(event) ((void)0)
#define NODE_RECORD(event) sc_exec_uses_note_event(&change.by, change.node, event, false)
#define NODE_WAIT(event) sc_exec_uses_note_event(&change.by, change.node, event, true)

#define SC_SETS_EXEC(name, suffix, version, arguments, does)                                       \
    CUresult name##suffix SC_PARAMETERS(name##suffix, arguments)                                   \
    {                                                                                              \
        SC_WRAPPER(name##suffix);                                                                  \
        BEGIN_##does;                                                                              \
        CUresult result = real arguments;                                                          \
        if (result != CUDA_SUCCESS || !sc_active())                                                \
            return result;                                                                         \
        struct exec_change change = begin_edit(call, hGraphExec, hNode);                           \
        NODE_##does;                                                                               \
        end_edit(&change);                                                                         \
        return result;                                                                             \
    }
#include "interpose/driver/api.def"

/* Called behind a call that changes an exec: it may use other memory now than what was captured, so
 * those who look for work that captured graphs lack (SC305) forget it. Returns `result`. */
static CUresult note_changed(CUresult result, CUgraphExec exec)
{
    if (sc_beside_follows_graphs() && result == CUDA_SUCCESS)
        sc_beside_forget_handle((uintptr_t)exec);
    return result;
}

/* Returns the function of a kernel node, which names either a CUfunction or a CUkernel of a
 * library; the driver takes the latter in place of a CUfunction. */
static CUfunction function_of(CUfunction function, CUkernel kernel)
{
    return function ? function : (CUfunction)kernel;
}

#define SETS_KERNEL(symbol, type, function)                                                        \
    CUresult symbol(CUgraphExec exec, CUgraphNode node, const type *params)                        \
    {                                                                                              \
        SC_WRAPPER(symbol);                                                                        \
        CUresult result = real(exec, node, params);                                                \
        if (result == CUDA_SUCCESS)                                                                \
            sc_device_nodes_note_kernel_change(                                                    \
                (uintptr_t)exec, (uintptr_t)node,                                                  \
                &(struct sc_kernel_node_given){function, params->kernelParams, params->extra});    \
        return note_changed(result, exec);                                                         \
    }

SETS_KERNEL(cuGraphExecKernelNodeSetParams, CUDA_KERNEL_NODE_PARAMS_v1, params->func)
SETS_KERNEL(cuGraphExecKernelNodeSetParams_v2, CUDA_KERNEL_NODE_PARAMS_v2,
            function_of(params->func, params->kern))

/* Gives a host node of an exec (an instantiated graph) another function. If the library sees the
 * node's runs, by a function of its own in front of the program's, that stays in front. */
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *params)
{
    SC_WRAPPER(cuGraphExecHostNodeSetParams);
    if (!params)
        return real(exec, node, params);
    CUDA_HOST_NODE_PARAMS given = *params;
    struct sc_watched_node *changed =
        sc_host_nodes_begin_change(exec, node, &given.fn, &given.userData);
    CUresult result = real(exec, node, changed ? &given : params);
    sc_host_nodes_end_change(exec, node, changed, result);
    return result;
}

/* Notes that a node of an exec (an instantiated graph) runs the child graph `child` from now on.
 * The driver is asked for the child's nodes, if it can be. */
static void note_child(const struct sc_graph_call *by, CUgraphNode node, CUgraph child)
{
    if (sc_driver_nodes_can_be_asked())
        sc_exec_uses_note_child(by, node, child);
}

/* Gives a node of an exec another child graph. */
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    SC_WRAPPER(cuGraphExecChildGraphNodeSetParams);
    sc_graph_calls_note_release(exec);
    CUresult result = real(exec, node, child);
    if (result != CUDA_SUCCESS || !sc_active())
        return result;
    struct exec_change change = begin_edit(call, exec, node);
    note_child(&change.by, (CUgraphNode)change.node, child);
    end_edit(&change);
    return result;
}

/* Called before a node of an exec is changed: returns the new child graph in `params`, or NULL. If
 * there is one, user objects of the former one may be released (sc_graph_calls_note_release). */
static CUgraph begin_child_change(CUgraphExec exec, const CUgraphNodeParams *params)
{
    CUgraph child = sc_node_uses_child_of(params);
    if (child)
        sc_graph_calls_note_release(exec);
    return child;
}

/* Notes what a node of an exec does that cuGraphExecNodeSetParams has changed. `child`: its new
 * child graph, or NULL. */
static void note_params(const struct exec_change *change, const CUgraphNodeParams *params,
                        CUgraph child)
{
    const struct sc_graph_call *by = &change->by;
    CUgraphNode node = (CUgraphNode)change->node;
    if (child)
        note_child(by, node, child);
    else if (params->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
        sc_exec_uses_note_event(by, (uintptr_t)node, params->eventRecord.event, /*waits=*/false);
    else if (params->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
        sc_exec_uses_note_event(by, (uintptr_t)node, params->eventWait.event, /*waits=*/true);
    else if (params->type == CU_GRAPH_NODE_TYPE_KERNEL)
        sc_device_nodes_note_kernel_change(
            by->graph, sc_graph_call_node(by, node),
            &(struct sc_kernel_node_given){function_of(params->kernel.func, params->kernel.kern),
                                           params->kernel.kernelParams, params->kernel.extra});
    else
        sc_node_uses_note_node(by, (uintptr_t)node, params, NULL);
}

/* Are these the parameters of a host node, which calls a function of the program? */
static bool is_host_node(const CUgraphNodeParams *params)
{
    return params && params->type == CU_GRAPH_NODE_TYPE_HOST;
}

/* Called before a node of an exec (an instantiated graph) is changed. If it is a host node whose
 * runs the library sees, returns the record for that, and the caller passes `given` to the driver,
 * which has the library's function in front of the program's. NULL: the caller passes the program's
 * `params`. */
static struct sc_watched_node *begin_host(CUgraphExec exec, CUgraphNode node,
                                          const CUgraphNodeParams *params, CUgraphNodeParams *given)
{
    if (!is_host_node(params))
        return NULL;
    *given = *params;
    return sc_host_nodes_begin_change(exec, node, &given->host.fn, &given->host.userData);
}

/* Gives a node of an exec (an instantiated graph) new parameters, of whatever type. */
CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params)
{
    SC_WRAPPER(cuGraphExecNodeSetParams);
    CUgraphNodeParams given;
    CUgraph child = begin_child_change(exec, params);
    struct sc_watched_node *host = begin_host(exec, node, params, &given);
    sc_node_uses_begin_node(params);
    CUresult result = real(exec, node, host ? &given : params);
    if (is_host_node(params))
        sc_host_nodes_end_change(exec, node, host, result);
    if (result != CUDA_SUCCESS || !sc_active())
        return result;
    struct exec_change change = begin_edit(call, exec, node);
    note_params(&change, params, child);
    end_edit(&change);
    return result;
}

/* Launches of the instantiated graph leave out a disabled node, until it is enabled again. */
CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled)
{
    SC_WRAPPER(cuGraphNodeSetEnabled);
    CUresult result = real(exec, node, enabled);
    if (result == CUDA_SUCCESS && sc_active())
        SC_TRACKED(sc_graphs_enable_node(track.graphs, (uintptr_t)exec, (uintptr_t)node, enabled));
    return note_changed(result, exec);
}

/* Destroys an instantiated graph (an exec), whose launches may still run: drops what is known of
 * it, and its entry in the ledger of memory. Its user objects may tell the host when its last
 * launch is done. */
CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    SC_WRAPPER(cuGraphExecDestroy);
    sc_graph_calls_note_release(exec);
    const struct sc_memory memory = exec_memory(exec);
    uint32_t known = sc_graph_calls_begin_destroy(exec);
    sc_memory_leaves(call, &memory);
    CUresult result = SC_PERMITTED(real(exec));
    sc_memory_left(&memory, sc_memory_is_taken(result));
    return sc_graph_calls_end_destroy(known, result);
}
