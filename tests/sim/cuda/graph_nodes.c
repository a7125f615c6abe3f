/* Adding nodes to graphs, and reading and changing what they do, in graphs and in execs. */
#include "api.h"
#include "capture.h"
#include "copy.h"
#include "graph.h"
#include "kernel.h"

static bool is_graph(CUgraph graph)
{
    return graph && graph->magic == MAGIC_GRAPH;
}

static struct sim_fill fill_of(const CUDA_MEMSET_NODE_PARAMS *p)
{
    return (struct sim_fill){.dst = p->dst,
                             .width = p->width,
                             .height = p->height,
                             .pitch = p->pitch,
                             .element = p->elementSize,
                             .value = p->value};
}

CUresult sim_node_prepare_locked(CUgraphNode node)
{
    struct sim_work *work = &node->work;
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_MEMCPY: {
        work->kind = WORK_COPY;
        CUresult result = sim_copy_from_3d(&node->params.copy, &work->copy);
        sim_copy_keep_kinds_locked(&work->copy);
        return result;
    }
    case CU_GRAPH_NODE_TYPE_MEMSET:
        work->kind = WORK_FILL;
        work->fill = fill_of(&node->params.fill);
        return work->fill.element == 1 || work->fill.element == 2 || work->fill.element == 4
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    case CU_GRAPH_NODE_TYPE_HOST:
        work->kind = WORK_HOST;
        work->host =
            (struct sim_host){.fn = node->params.host.fn, .arg = node->params.host.userData};
        return work->host.fn ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_GRAPH_NODE_TYPE_KERNEL: {
        CUDA_KERNEL_NODE_PARAMS *p = &node->params.kernel;
        CUfunction function = p->func ? p->func : (CUfunction)(void *)p->kern;
        return sim_kernel_work(function, p->kernelParams, p->extra, work);
    }
    default:
        return CUDA_SUCCESS;
    }
}

/* Arrays are shown by the address of their memory. */
static CUmemorytype shown_type(CUmemorytype type)
{
    return type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE ? type
                                                                      : CU_MEMORYTYPE_UNIFIED;
}

/* Captured copies show what kinds of memory the call said. */
void sim_node_describe_locked(CUgraphNode node)
{
    const struct sim_copy *c = &node->work.copy;
    const struct sim_fill *f = &node->work.fill;
    switch (node->work.kind) {
    case WORK_COPY:
        node->params.copy = (CUDA_MEMCPY3D){
            .srcMemoryType = shown_type(c->src_type),
            .srcHost = (const void *)c->src,
            .srcDevice = c->src,
            .srcPitch = c->src_pitch,
            .srcHeight = c->src_pitch ? c->src_slice / c->src_pitch : 0,
            .dstMemoryType = shown_type(c->dst_type),
            .dstHost = (void *)c->dst,
            .dstDevice = c->dst,
            .dstPitch = c->dst_pitch,
            .dstHeight = c->dst_pitch ? c->dst_slice / c->dst_pitch : 0,
            .WidthInBytes = c->width,
            .Height = c->height,
            .Depth = c->depth,
        };
        break;
    case WORK_FILL:
        node->params.fill = (CUDA_MEMSET_NODE_PARAMS){
            .dst = f->dst,
            .pitch = f->pitch,
            .value = f->value,
            .elementSize = f->element,
            .width = f->width,
            .height = f->height,
        };
        break;
    case WORK_HOST:
        node->params.host = (CUDA_HOST_NODE_PARAMS){node->work.host.fn, node->work.host.arg};
        break;
    default:
        break;
    }
}

/* Stores one kind of parameters in a node. */
static void store(CUgraphNode node, const void *params)
{
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        node->params.copy = *(const CUDA_MEMCPY3D *)params;
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        node->params.fill = *(const CUDA_MEMSET_NODE_PARAMS *)params;
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        node->params.host = *(const CUDA_HOST_NODE_PARAMS *)params;
        break;
    case CU_GRAPH_NODE_TYPE_KERNEL:
        node->params.kernel = *(const CUDA_KERNEL_NODE_PARAMS *)params;
        break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        node->params.event = *(const CUevent *)params;
        break;
    default:
        break;
    }
}

/* The caller's values are its own again when the call returns. */
void sim_node_keep_values_locked(CUgraphNode node)
{
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        struct sim_values *former = node->values;
        node->values = sim_values_copy(&node->params.kernel);
        sim_values_give_locked(former);
    }
}

CUresult sim_node_add(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps, size_t count,
                      CUgraphNodeType type, const void *params)
{
    if (!out || !is_graph(graph) || (count && !deps) ||
        (!params && type != CU_GRAPH_NODE_TYPE_EMPTY))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUgraphNode node = sim_graph_add_locked(graph, type, deps, count);
    CUresult result = node ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    if (node && params) {
        store(node, params);
        result = sim_node_prepare_locked(node);
    }
    if (node && result != CUDA_SUCCESS)
        sim_graph_remove_locked(node);
    else if (node)
        sim_node_keep_values_locked(node);
    sim_unlock();
    if (result == CUDA_SUCCESS)
        *out = node;
    return result;
}

#define ADD(symbol, type, kind, ...)                                                               \
    SIM_API(symbol,                                                                                \
            (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,           \
             size_t numDependencies, __VA_ARGS__),                                                 \
            phGraphNode, hGraph, dependencies, numDependencies, ADD_ARGS_##kind)                   \
    {                                                                                              \
        ADD_UNUSED_##kind return sim_node_add(phGraphNode, hGraph, dependencies, numDependencies,  \
                                              CU_GRAPH_NODE_TYPE_##type, ADD_PARAMS_##kind);       \
    }
#define ADD_ARGS_PLAIN nodeParams
#define ADD_PARAMS_PLAIN nodeParams
#define ADD_UNUSED_PLAIN
#define ADD_ARGS_CONTEXT params, ctx
#define ADD_PARAMS_CONTEXT params
#define ADD_UNUSED_CONTEXT (void)ctx;
#define ADD_ARGS_EVENT event
#define ADD_PARAMS_EVENT &event
#define ADD_UNUSED_EVENT

ADD(cuGraphAddKernelNode_v2, KERNEL, PLAIN, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
ADD(cuGraphAddHostNode, HOST, PLAIN, const CUDA_HOST_NODE_PARAMS *nodeParams)
ADD(cuGraphAddMemcpyNode, MEMCPY, CONTEXT, const CUDA_MEMCPY3D *params, CUcontext ctx)
ADD(cuGraphAddMemsetNode, MEMSET, CONTEXT, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx)
ADD(cuGraphAddEventRecordNode, EVENT_RECORD, EVENT, CUevent event)
ADD(cuGraphAddEventWaitNode, WAIT_EVENT, EVENT, CUevent event)

SIM_API(cuGraphAddEmptyNode,
        (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
         size_t numDependencies),
        phGraphNode, hGraph, dependencies, numDependencies)
{
    return sim_node_add(phGraphNode, hGraph, dependencies, numDependencies,
                        CU_GRAPH_NODE_TYPE_EMPTY, NULL);
}

CUresult sim_node_add_child(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps, size_t count,
                            CUgraph child, bool moves)
{
    if (!out || !is_graph(graph) || !is_graph(child) || (count && !deps))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    bool can = !sim_graph_has_condition_locked(child);
    CUgraph copy = !can ? NULL : moves ? child : sim_graph_clone_locked(child);
    CUgraphNode node =
        copy ? sim_graph_add_locked(graph, CU_GRAPH_NODE_TYPE_GRAPH, deps, count) : NULL;
    if (node) {
        node->params.child = copy;
        *out = node;
    }
    sim_unlock();
    return node ? CUDA_SUCCESS : can ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_NOT_SUPPORTED;
}

SIM_API(cuGraphAddChildGraphNode,
        (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
         size_t numDependencies, CUgraph childGraph),
        phGraphNode, hGraph, dependencies, numDependencies, childGraph)
{
    return sim_node_add_child(phGraphNode, hGraph, dependencies, numDependencies, childGraph,
                              false);
}

SIM_API(cuGraphChildGraphNodeGetGraph, (CUgraphNode hNode, CUgraph *phGraph), hNode, phGraph)
{
    if (!hNode || hNode->type != CU_GRAPH_NODE_TYPE_GRAPH || !phGraph)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = hNode->params.child;
    return CUDA_SUCCESS;
}

/* Changes a node; the old parameters stay if the new ones are refused. */
static CUresult set_locked(CUgraphNode node, CUgraphNodeType type, const void *params)
{
    if (!node || node->type != type || !params)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUgraphNode_st old = *node;
    store(node, params);
    CUresult result = sim_node_prepare_locked(node);
    if (result != CUDA_SUCCESS) {
        node->work = old.work;
        node->params = old.params;
    } else {
        sim_node_keep_values_locked(node);
    }
    return result;
}

CUresult sim_node_set(CUgraphNode node, CUgraphNodeType type, const void *params)
{
    sim_lock();
    CUresult result = set_locked(node, type, params);
    sim_unlock();
    return result;
}

static CUgraphNode node_of_locked(CUgraph graph, CUgraphNode node)
{
    CUgraphNode found = NULL;
    for (CUgraphNode own = graph->first; own && !found; own = own->next) {
        if (own->twin == node)
            found = own;
        else if (own->type == CU_GRAPH_NODE_TYPE_GRAPH)
            found = node_of_locked(own->params.child, node);
        else if (own->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            for (unsigned i = 0; i < own->params.condition.count && !found; i++)
                found = node_of_locked(own->params.condition.bodies[i], node);
    }
    return found;
}

/* Nodes of bodies and of child graphs are among them. */
CUgraphNode sim_exec_node_locked(CUgraphExec exec, CUgraphNode node)
{
    return node_of_locked(exec->graph, node);
}

CUresult sim_node_set_exec(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type,
                           const void *params)
{
    if (!exec || exec->magic != MAGIC_EXEC)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUgraphNode own = sim_exec_node_locked(exec, node);
    bool fits = type != CU_GRAPH_NODE_TYPE_MEMCPY || !own || !params ||
                sim_copy_same_types(&own->params.copy, params);
    CUresult result = fits ? set_locked(own, type, params) : CUDA_ERROR_INVALID_VALUE;
    sim_unlock();
    return result;
}

#define ACCESS(name, TYPE, params_type, field)                                                     \
    SIM_API(cuGraph##name##NodeGetParams##TYPE, (CUgraphNode hNode, params_type * nodeParams),     \
            hNode, nodeParams)                                                                     \
    {                                                                                              \
        if (!hNode || hNode->type != NODE_TYPE_##field || !nodeParams)                             \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        *nodeParams = hNode->params.field;                                                         \
        return CUDA_SUCCESS;                                                                       \
    }                                                                                              \
    SIM_API(cuGraph##name##NodeSetParams##TYPE,                                                    \
            (CUgraphNode hNode, const params_type *nodeParams), hNode, nodeParams)                 \
    {                                                                                              \
        return sim_node_set(hNode, NODE_TYPE_##field, nodeParams);                                 \
    }
#define NODE_TYPE_copy CU_GRAPH_NODE_TYPE_MEMCPY
#define NODE_TYPE_fill CU_GRAPH_NODE_TYPE_MEMSET
#define NODE_TYPE_host CU_GRAPH_NODE_TYPE_HOST
#define NODE_TYPE_kernel CU_GRAPH_NODE_TYPE_KERNEL

ACCESS(Memcpy, , CUDA_MEMCPY3D, copy)
ACCESS(Memset, , CUDA_MEMSET_NODE_PARAMS, fill)
ACCESS(Host, , CUDA_HOST_NODE_PARAMS, host)
ACCESS(Kernel, _v2, CUDA_KERNEL_NODE_PARAMS, kernel)

SIM_API(cuGraphExecMemcpyNodeSetParams,
        (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D *copyParams, CUcontext ctx),
        hGraphExec, hNode, copyParams, ctx)
{
    (void)ctx;
    return sim_node_set_exec(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMCPY, copyParams);
}

SIM_API(cuGraphExecMemsetNodeSetParams,
        (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *memsetParams,
         CUcontext ctx),
        hGraphExec, hNode, memsetParams, ctx)
{
    (void)ctx;
    return sim_node_set_exec(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMSET, memsetParams);
}

SIM_API(cuGraphExecHostNodeSetParams,
        (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams),
        hGraphExec, hNode, nodeParams)
{
    return sim_node_set_exec(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams);
}

SIM_API(cuGraphExecKernelNodeSetParams_v2,
        (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams),
        hGraphExec, hNode, nodeParams)
{
    return sim_node_set_exec(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams);
}
