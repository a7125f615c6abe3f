/* Nodes by the block that fits every type, and what is special to child graphs, events, memory and
 * enabling. */
#include "runtime.h"

/* The driver's block for the runtime's. The types share their numbers. */
static CUresult node_params(const struct cudaGraphNodeParams *from, CUgraphNodeParams *to)
{
    if (!from)
        return CUDA_ERROR_INVALID_VALUE;
    *to = (CUgraphNodeParams){.type = (CUgraphNodeType)from->type};
    switch (from->type) {
    case cudaGraphNodeTypeKernel:
        to->kernel = (CUDA_KERNEL_NODE_PARAMS_v3){
            .gridDimX = from->kernel.gridDim.x,
            .gridDimY = from->kernel.gridDim.y,
            .gridDimZ = from->kernel.gridDim.z,
            .blockDimX = from->kernel.blockDim.x,
            .blockDimY = from->kernel.blockDim.y,
            .blockDimZ = from->kernel.blockDim.z,
            .sharedMemBytes = from->kernel.sharedMemBytes,
            .kernelParams = from->kernel.kernelParams,
            .extra = from->kernel.extra,
        };
        return rt_function(from->kernel.func, &to->kernel.func);
    case cudaGraphNodeTypeMemcpy:
        to->memcpy.copyCtx = rt_current_context();
        return rt_copy3d(&from->memcpy.copyParams, &to->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        to->memset = (CUDA_MEMSET_NODE_PARAMS_v2){
            .dst = rt_dptr(from->memset.dst),
            .pitch = from->memset.pitch,
            .value = from->memset.value,
            .elementSize = from->memset.elementSize,
            .width = from->memset.width,
            .height = from->memset.height,
            .ctx = rt_current_context(),
        };
        return CUDA_SUCCESS;
    case cudaGraphNodeTypeHost:
        to->host = (CUDA_HOST_NODE_PARAMS_v2){from->host.fn, from->host.userData};
        return CUDA_SUCCESS;
    case cudaGraphNodeTypeGraph:
        to->graph.graph = from->graph.graph;
        to->graph.ownership = (CUgraphChildGraphNodeOwnership)from->graph.ownership;
        return CUDA_SUCCESS;
    case cudaGraphNodeTypeEventRecord:
        to->eventRecord.event = from->eventRecord.event;
        return CUDA_SUCCESS;
    case cudaGraphNodeTypeWaitEvent:
        to->eventWait.event = from->eventWait.event;
        return CUDA_SUCCESS;
    case cudaGraphNodeTypeExtSemaphoreSignal:
        to->extSemSignal = (CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2){
            (CUexternalSemaphore *)(void *)from->extSemSignal.extSemArray,
            (const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *)(const void *)
                from->extSemSignal.paramsArray,
            from->extSemSignal.numExtSems};
        return CUDA_SUCCESS;
    case cudaGraphNodeTypeExtSemaphoreWait:
        to->extSemWait = (CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2){
            (CUexternalSemaphore *)(void *)from->extSemWait.extSemArray,
            (const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *)(const void *)from->extSemWait.paramsArray,
            from->extSemWait.numExtSems};
        return CUDA_SUCCESS;
    case cudaGraphNodeTypeEmpty:
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                             const cudaGraphNode_t *pDependencies,
                             const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                             struct cudaGraphNodeParams *nodeParams)
{
    ENTER(cudaGraphAddNode_v12030, pGraphNode, graph, pDependencies, dependencyData,
          numDependencies, nodeParams);
    CUgraphNodeParams params;
    CUresult result = node_params(nodeParams, &params);
    if (result == CUDA_SUCCESS)
        result =
            CALL(cuGraphAddNode, pGraphNode, graph, pDependencies,
                 (const CUgraphEdgeData *)(const void *)dependencyData, numDependencies, &params);
    LEAVE(result);
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams)
{
    ENTER(cudaGraphNodeSetParams_v12020, node, nodeParams);
    CUgraphNodeParams params;
    CUresult result = node_params(nodeParams, &params);
    LEAVE(result == CUDA_SUCCESS ? CALL(cuGraphNodeSetParams, node, &params) : result);
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams *nodeParams)
{
    ENTER(cudaGraphExecNodeSetParams_v12020, graphExec, node, nodeParams);
    CUgraphNodeParams params;
    CUresult result = node_params(nodeParams, &params);
    LEAVE(result == CUDA_SUCCESS ? CALL(cuGraphExecNodeSetParams, graphExec, node, &params)
                                 : result);
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                    unsigned int isEnabled)
{
    ENTER(cudaGraphNodeSetEnabled_v11060, hGraphExec, hNode, isEnabled);
    LEAVE(CALL(cuGraphNodeSetEnabled, hGraphExec, hNode, isEnabled));
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                    unsigned int *isEnabled)
{
    ENTER(cudaGraphNodeGetEnabled_v11060, hGraphExec, hNode, isEnabled);
    LEAVE(CALL(cuGraphNodeGetEnabled, hGraphExec, hNode, isEnabled));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *pGraph)
{
    ENTER(cudaGraphChildGraphNodeGetGraph_v10000, node, pGraph);
    LEAVE(CALL(cuGraphChildGraphNodeGetGraph, node, pGraph));
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                 cudaGraph_t childGraph)
{
    ENTER(cudaGraphExecChildGraphNodeSetParams_v11010, hGraphExec, node, childGraph);
    LEAVE(CALL(cuGraphExecChildGraphNodeSetParams, hGraphExec, node, childGraph));
}

#define EVENT_NODE(name)                                                                           \
    cudaError_t cudaGraph##name##NodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out)        \
    {                                                                                              \
        ENTER(cudaGraph##name##NodeGetEvent_v11010, node, event_out);                              \
        LEAVE(CALL(cuGraph##name##NodeGetEvent, node, event_out));                                 \
    }                                                                                              \
    cudaError_t cudaGraph##name##NodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)             \
    {                                                                                              \
        ENTER(cudaGraph##name##NodeSetEvent_v11010, node, event);                                  \
        LEAVE(CALL(cuGraph##name##NodeSetEvent, node, event));                                     \
    }                                                                                              \
    cudaError_t cudaGraphExec##name##NodeSetEvent(cudaGraphExec_t hGraphExec,                      \
                                                  cudaGraphNode_t hNode, cudaEvent_t event)        \
    {                                                                                              \
        ENTER(cudaGraphExec##name##NodeSetEvent_v11010, hGraphExec, hNode, event);                 \
        LEAVE(CALL(cuGraphExec##name##NodeSetEvent, hGraphExec, hNode, event));                    \
    }

EVENT_NODE(EventRecord)
EVENT_NODE(EventWait)

_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS), "");

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                     struct cudaMemAllocNodeParams *nodeParams)
{
    ENTER(cudaGraphAddMemAllocNode_v11040, pGraphNode, graph, pDependencies, numDependencies,
          nodeParams);
    LEAVE(CALL(cuGraphAddMemAllocNode, pGraphNode, graph, pDependencies, numDependencies,
               (CUDA_MEM_ALLOC_NODE_PARAMS *)(void *)nodeParams));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                    const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                    void *dptr)
{
    ENTER(cudaGraphAddMemFreeNode_v11040, pGraphNode, graph, pDependencies, numDependencies, dptr);
    LEAVE(CALL(cuGraphAddMemFreeNode, pGraphNode, graph, pDependencies, numDependencies,
               rt_dptr(dptr)));
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *dptr_out)
{
    ENTER(cudaGraphMemFreeNodeGetParams_v11040, node, dptr_out);
    LEAVE(CALL(cuGraphMemFreeNodeGetParams, node, (CUdeviceptr *)dptr_out));
}
