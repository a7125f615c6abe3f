/* Nodes by the general CUgraphNodeParams, by older parameter structs, and what is special to
 * events, memory and enabling. */
#include "api.h"
#include "graph.h"
#include "memory.h"
#include "memory_ops.h"
#include "semaphore.h"

/* The parameters of one type as graph_nodes.c takes them. */
union plain {
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_HOST_NODE_PARAMS host;
    CUevent event;
};

static bool simplify(const CUgraphNodeParams *p, union plain *plain)
{
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        plain->kernel = (CUDA_KERNEL_NODE_PARAMS){
            p->kernel.func,      p->kernel.gridDimX,       p->kernel.gridDimY,
            p->kernel.gridDimZ,  p->kernel.blockDimX,      p->kernel.blockDimY,
            p->kernel.blockDimZ, p->kernel.sharedMemBytes, p->kernel.kernelParams,
            p->kernel.extra,     p->kernel.kern,           p->kernel.ctx,
        };
        return true;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        plain->copy = p->memcpy.copyParams;
        return true;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        plain->fill =
            (CUDA_MEMSET_NODE_PARAMS){p->memset.dst,         p->memset.pitch, p->memset.value,
                                      p->memset.elementSize, p->memset.width, p->memset.height};
        return true;
    case CU_GRAPH_NODE_TYPE_HOST:
        plain->host = (CUDA_HOST_NODE_PARAMS){p->host.fn, p->host.userData};
        return true;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        plain->event = p->eventRecord.event;
        return true;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        plain->event = p->eventWait.event;
        return true;
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return true;
    default:
        return false;
    }
}

/* Both versions of the struct are alike. */
static const void *semaphores_of(const CUgraphNodeParams *p)
{
    return p->type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL ? (const void *)&p->extSemSignal
                                                          : (const void *)&p->extSemWait;
}

/* As the function for this type takes them. */
static CUDA_BATCH_MEM_OP_NODE_PARAMS operations_of(const CUgraphNodeParams *p)
{
    return (CUDA_BATCH_MEM_OP_NODE_PARAMS){p->memOp.ctx, p->memOp.count, p->memOp.paramArray,
                                           p->memOp.flags};
}

static bool are_operations(const CUgraphNodeParams *p)
{
    return p && p->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
}

static CUresult add(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps, size_t count,
                    CUgraphNodeParams *p)
{
    union plain plain;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    if (p->type == CU_GRAPH_NODE_TYPE_GRAPH) {
        bool moves = p->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
        return sim_node_add_child(out, graph, deps, count, p->graph.graph, moves);
    }
    if (p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return sim_condition_add(out, graph, deps, count, &p->conditional);
    if (sim_semaphores_are_of(p->type))
        return sim_semaphores_add_node(out, graph, deps, count, p->type, semaphores_of(p));
    if (are_operations(p)) {
        CUDA_BATCH_MEM_OP_NODE_PARAMS operations = operations_of(p);
        return sim_memory_ops_add_node(out, graph, deps, count, &operations);
    }
    if (!simplify(p, &plain))
        return CUDA_ERROR_NOT_SUPPORTED;
    return sim_node_add(out, graph, deps, count, p->type,
                        p->type == CU_GRAPH_NODE_TYPE_EMPTY ? NULL : &plain);
}

SIM_API(cuGraphAddNode,
        (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
         size_t numDependencies, CUgraphNodeParams *nodeParams),
        phGraphNode, hGraph, dependencies, numDependencies, nodeParams)
{
    return add(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

SIM_API(cuGraphAddNode_v2,
        (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
         const CUgraphEdgeData *dependencyData, size_t numDependencies,
         CUgraphNodeParams *nodeParams),
        phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams)
{
    (void)dependencyData;
    return add(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

SIM_API(cuGraphAddNode_v3,
        (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
         const CUgraphEdgeData *dependencyData, size_t numDependencies,
         CUgraphNodeParams *nodeParams),
        phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams)
{
    (void)dependencyData;
    return add(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

static CUresult set_params(CUgraphNode node, CUgraphNodeParams *params)
{
    union plain plain;
    if (params && sim_semaphores_are_of(params->type))
        return sim_semaphores_set_node(node, params->type, semaphores_of(params));
    if (are_operations(params)) {
        CUDA_BATCH_MEM_OP_NODE_PARAMS operations = operations_of(params);
        return sim_memory_ops_set_node(node, &operations);
    }
    if (!params || !simplify(params, &plain))
        return params ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    return sim_node_set(node, params->type, &plain);
}

SIM_API(cuGraphNodeSetParams, (CUgraphNode hNode, CUgraphNodeParams *nodeParams), hNode, nodeParams)
{
    return set_params(hNode, nodeParams);
}

SIM_API(cuGraphNodeSetParams_v2, (CUgraphNode hNode, CUgraphNodeParams *nodeParams), hNode,
        nodeParams)
{
    return set_params(hNode, nodeParams);
}

SIM_API(cuGraphExecNodeSetParams,
        (CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams), hGraphExec,
        hNode, nodeParams)
{
    union plain plain;
    if (nodeParams && nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return sim_exec_set_child(hGraphExec, hNode, nodeParams->graph.graph);
    if (nodeParams && sim_semaphores_are_of(nodeParams->type))
        return sim_semaphores_set_exec(hGraphExec, hNode, nodeParams->type,
                                       semaphores_of(nodeParams));
    if (are_operations(nodeParams)) {
        CUDA_BATCH_MEM_OP_NODE_PARAMS operations = operations_of(nodeParams);
        return sim_memory_ops_set_exec(hGraphExec, hNode, &operations);
    }
    if (!nodeParams || !simplify(nodeParams, &plain))
        return nodeParams ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    return sim_node_set_exec(hGraphExec, hNode, nodeParams->type, &plain);
}

static CUDA_KERNEL_NODE_PARAMS newer(const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    return (CUDA_KERNEL_NODE_PARAMS){
        p->func,      p->gridDimX,       p->gridDimY,     p->gridDimZ, p->blockDimX, p->blockDimY,
        p->blockDimZ, p->sharedMemBytes, p->kernelParams, p->extra,    NULL,         NULL,
    };
}

SIM_API(cuGraphAddKernelNode,
        (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
         size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
        phGraphNode, hGraph, dependencies, numDependencies, nodeParams)
{
    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS params = newer(nodeParams);
    return sim_node_add(phGraphNode, hGraph, dependencies, numDependencies,
                        CU_GRAPH_NODE_TYPE_KERNEL, &params);
}

SIM_API(cuGraphKernelNodeGetParams, (CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
        hNode, nodeParams)
{
    if (!hNode || hNode->type != CU_GRAPH_NODE_TYPE_KERNEL || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS *p = &hNode->params.kernel;
    *nodeParams = (CUDA_KERNEL_NODE_PARAMS_v1){
        p->func,      p->gridDimX,  p->gridDimY,       p->gridDimZ,     p->blockDimX,
        p->blockDimY, p->blockDimZ, p->sharedMemBytes, p->kernelParams, p->extra};
    return CUDA_SUCCESS;
}

SIM_API(cuGraphKernelNodeSetParams,
        (CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams), hNode, nodeParams)
{
    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS params = newer(nodeParams);
    return sim_node_set(hNode, CU_GRAPH_NODE_TYPE_KERNEL, &params);
}

SIM_API(cuGraphExecKernelNodeSetParams,
        (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
        hGraphExec, hNode, nodeParams)
{
    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS params = newer(nodeParams);
    return sim_node_set_exec(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL, &params);
}

#define EVENT_NODE(name, TYPE)                                                                     \
    SIM_API(cuGraph##name##NodeGetEvent, (CUgraphNode hNode, CUevent * event_out), hNode,          \
            event_out)                                                                             \
    {                                                                                              \
        if (!hNode || hNode->type != CU_GRAPH_NODE_TYPE_##TYPE || !event_out)                      \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        *event_out = hNode->params.event;                                                          \
        return CUDA_SUCCESS;                                                                       \
    }                                                                                              \
    SIM_API(cuGraph##name##NodeSetEvent, (CUgraphNode hNode, CUevent event), hNode, event)         \
    {                                                                                              \
        return sim_node_set(hNode, CU_GRAPH_NODE_TYPE_##TYPE, &event);                             \
    }                                                                                              \
    SIM_API(cuGraphExec##name##NodeSetEvent,                                                       \
            (CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event), hGraphExec, hNode, event)  \
    {                                                                                              \
        return sim_node_set_exec(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_##TYPE, &event);            \
    }

EVENT_NODE(EventRecord, EVENT_RECORD)
EVENT_NODE(EventWait, WAIT_EVENT)

/* The block is the node's from here on, launched or not. */
SIM_API(cuGraphAddMemAllocNode,
        (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
         size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams),
        phGraphNode, hGraph, dependencies, numDependencies, nodeParams)
{
    CUcontext context = sim_context_current();
    if (!nodeParams || nodeParams->bytesize == 0 || !context)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_range like = {.device = context->device, .context = context, .of_graph = true};
    sim_lock();
    nodeParams->dptr = sim_memory_alloc_locked(MEMORY_DEVICE, nodeParams->bytesize, &like);
    sim_unlock();
    if (!nodeParams->dptr)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = sim_node_add(phGraphNode, hGraph, dependencies, numDependencies,
                                   CU_GRAPH_NODE_TYPE_MEM_ALLOC, nodeParams);
    if (result == CUDA_SUCCESS)
        (*phGraphNode)->params.memory = nodeParams->dptr;
    return result;
}

SIM_API(cuGraphAddMemFreeNode,
        (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
         size_t numDependencies, CUdeviceptr dptr),
        phGraphNode, hGraph, dependencies, numDependencies, dptr)
{
    struct sim_range range;
    sim_lock();
    sim_memory_find_locked((uintptr_t)dptr, &range);
    sim_unlock();
    if (!range.of_graph || range.base != dptr)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_node_add(phGraphNode, hGraph, dependencies, numDependencies,
                                   CU_GRAPH_NODE_TYPE_MEM_FREE, &dptr);
    if (result == CUDA_SUCCESS)
        (*phGraphNode)->params.memory = dptr;
    return result;
}

SIM_API(cuGraphMemAllocNodeGetParams, (CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out),
        hNode, params_out)
{
    struct sim_range range;
    if (!hNode || hNode->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC || !params_out)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    sim_memory_find_locked((uintptr_t)hNode->params.memory, &range);
    sim_unlock();
    *params_out = (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = range.device}},
        .bytesize = range.size,
        .dptr = hNode->params.memory,
    };
    return CUDA_SUCCESS;
}

SIM_API(cuGraphMemFreeNodeGetParams, (CUgraphNode hNode, CUdeviceptr *dptr_out), hNode, dptr_out)
{
    if (!hNode || hNode->type != CU_GRAPH_NODE_TYPE_MEM_FREE || !dptr_out)
        return CUDA_ERROR_INVALID_VALUE;
    *dptr_out = hNode->params.memory;
    return CUDA_SUCCESS;
}

static CUresult enabled(CUgraphExec exec, CUgraphNode node, CUgraphNode *own)
{
    if (!exec || exec->magic != MAGIC_EXEC)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    *own = sim_exec_node_locked(exec, node);
    sim_unlock();
    return *own ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuGraphNodeSetEnabled, (CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled),
        hGraphExec, hNode, isEnabled)
{
    CUgraphNode own;
    CUresult result = enabled(hGraphExec, hNode, &own);
    if (result == CUDA_SUCCESS)
        own->disabled = !isEnabled;
    return result;
}

SIM_API(cuGraphNodeGetEnabled, (CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int *isEnabled),
        hGraphExec, hNode, isEnabled)
{
    CUgraphNode own;
    CUresult result = isEnabled ? enabled(hGraphExec, hNode, &own) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *isEnabled = !own->disabled;
    return result;
}
