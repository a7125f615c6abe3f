/* Graphs: building, instantiating and changing them. Launching is in stream_api.h. */
#include "runtime.h"

cudaError_t cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags)
{
    ENTER(cudaGraphCreate_v10000, pGraph, flags);
    LEAVE(CALL(cuGraphCreate, pGraph, flags));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    ENTER(cudaGraphDestroy_v10000, graph);
    LEAVE(CALL(cuGraphDestroy, graph));
}

cudaError_t cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph)
{
    ENTER(cudaGraphClone_v10000, pGraphClone, originalGraph);
    LEAVE(CALL(cuGraphClone, pGraphClone, originalGraph));
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *pNode, cudaGraphNode_t originalNode,
                                     cudaGraph_t clonedGraph)
{
    ENTER(cudaGraphNodeFindInClone_v10000, pNode, originalNode, clonedGraph);
    LEAVE(CALL(cuGraphNodeFindInClone, pNode, originalNode, clonedGraph));
}

/* Adding nodes. */

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                   const struct cudaKernelNodeParams *pNodeParams)
{
    ENTER(cudaGraphAddKernelNode_v10000, pGraphNode, graph, pDependencies, numDependencies,
          pNodeParams);
    CUDA_KERNEL_NODE_PARAMS params;
    CUresult result = rt_kernel(pNodeParams, &params);
    if (result == CUDA_SUCCESS)
        result =
            CALL(cuGraphAddKernelNode, pGraphNode, graph, pDependencies, numDependencies, &params);
    LEAVE(result);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                   const struct cudaMemcpy3DParms *pCopyParams)
{
    ENTER(cudaGraphAddMemcpyNode_v10000, pGraphNode, graph, pDependencies, numDependencies,
          pCopyParams);
    CUDA_MEMCPY3D copy;
    CUresult result = rt_copy3d(pCopyParams, &copy);
    if (result == CUDA_SUCCESS)
        result = CALL(cuGraphAddMemcpyNode, pGraphNode, graph, pDependencies, numDependencies,
                      &copy, rt_current_context());
    LEAVE(result);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                     void *dst, const void *src, size_t count,
                                     enum cudaMemcpyKind kind)
{
    ENTER(cudaGraphAddMemcpyNode1D_v11010, pGraphNode, graph, pDependencies, numDependencies, dst,
          src, count, kind);
    CUDA_MEMCPY3D copy;
    CUresult result = rt_row(dst, src, count, kind, &copy);
    if (result == CUDA_SUCCESS)
        result = CALL(cuGraphAddMemcpyNode, pGraphNode, graph, pDependencies, numDependencies,
                      &copy, rt_current_context());
    LEAVE(result);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                   const struct cudaMemsetParams *pMemsetParams)
{
    ENTER(cudaGraphAddMemsetNode_v10000, pGraphNode, graph, pDependencies, numDependencies,
          pMemsetParams);
    CUDA_MEMSET_NODE_PARAMS params = rt_fill(pMemsetParams);
    LEAVE(CALL(cuGraphAddMemsetNode, pGraphNode, graph, pDependencies, numDependencies, &params,
               rt_current_context()));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                 const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                 const struct cudaHostNodeParams *pNodeParams)
{
    ENTER(cudaGraphAddHostNode_v10000, pGraphNode, graph, pDependencies, numDependencies,
          pNodeParams);
    CUDA_HOST_NODE_PARAMS params = {.fn = pNodeParams->fn, .userData = pNodeParams->userData};
    LEAVE(CALL(cuGraphAddHostNode, pGraphNode, graph, pDependencies, numDependencies, &params));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                       cudaGraph_t childGraph)
{
    ENTER(cudaGraphAddChildGraphNode_v10000, pGraphNode, graph, pDependencies, numDependencies,
          childGraph);
    LEAVE(CALL(cuGraphAddChildGraphNode, pGraphNode, graph, pDependencies, numDependencies,
               childGraph));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                  const cudaGraphNode_t *pDependencies, size_t numDependencies)
{
    ENTER(cudaGraphAddEmptyNode_v10000, pGraphNode, graph, pDependencies, numDependencies);
    LEAVE(CALL(cuGraphAddEmptyNode, pGraphNode, graph, pDependencies, numDependencies));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                        const cudaGraphNode_t *pDependencies,
                                        size_t numDependencies, cudaEvent_t event)
{
    ENTER(cudaGraphAddEventRecordNode_v11010, pGraphNode, graph, pDependencies, numDependencies,
          event);
    LEAVE(
        CALL(cuGraphAddEventRecordNode, pGraphNode, graph, pDependencies, numDependencies, event));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                      cudaEvent_t event)
{
    ENTER(cudaGraphAddEventWaitNode_v11010, pGraphNode, graph, pDependencies, numDependencies,
          event);
    LEAVE(CALL(cuGraphAddEventWaitNode, pGraphNode, graph, pDependencies, numDependencies, event));
}

_Static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData), "edge data");

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, const cudaGraphEdgeData *edgeData,
                                     size_t numDependencies)
{
    ENTER(cudaGraphAddDependencies_v12030, graph, from, to, edgeData, numDependencies);
    LEAVE(CALL(cuGraphAddDependencies, graph, from, to,
               (const CUgraphEdgeData *)(const void *)edgeData, numDependencies));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edgeData, size_t numDependencies)
{
    ENTER(cudaGraphRemoveDependencies_v12030, graph, from, to, edgeData, numDependencies);
    LEAVE(CALL(cuGraphRemoveDependencies, graph, from, to,
               (const CUgraphEdgeData *)(const void *)edgeData, numDependencies));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    ENTER(cudaGraphDestroyNode_v10000, node);
    LEAVE(CALL(cuGraphDestroyNode, node));
}

/* Looking at a graph. */

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType)
{
    ENTER(cudaGraphNodeGetType_v10000, node, pType);
    LEAVE(CALL(cuGraphNodeGetType, node, (CUgraphNodeType *)(void *)pType));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes)
{
    ENTER(cudaGraphGetNodes_v10000, graph, nodes, numNodes);
    LEAVE(CALL(cuGraphGetNodes, graph, nodes, numNodes));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes,
                                  size_t *pNumRootNodes)
{
    ENTER(cudaGraphGetRootNodes_v10000, graph, pRootNodes, pNumRootNodes);
    LEAVE(CALL(cuGraphGetRootNodes, graph, pRootNodes, pNumRootNodes));
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              cudaGraphEdgeData *edgeData, size_t *numEdges)
{
    ENTER(cudaGraphGetEdges_v12030, graph, from, to, edgeData, numEdges);
    LEAVE(CALL(cuGraphGetEdges, graph, from, to, (CUgraphEdgeData *)(void *)edgeData, numEdges));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
                                         cudaGraphEdgeData *edgeData, size_t *pNumDependencies)
{
    ENTER(cudaGraphNodeGetDependencies_v12030, node, pDependencies, edgeData, pNumDependencies);
    LEAVE(CALL(cuGraphNodeGetDependencies, node, pDependencies, (CUgraphEdgeData *)(void *)edgeData,
               pNumDependencies));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes,
                                           cudaGraphEdgeData *edgeData, size_t *pNumDependentNodes)
{
    ENTER(cudaGraphNodeGetDependentNodes_v12030, node, pDependentNodes, edgeData,
          pNumDependentNodes);
    LEAVE(CALL(cuGraphNodeGetDependentNodes, node, pDependentNodes,
               (CUgraphEdgeData *)(void *)edgeData, pNumDependentNodes));
}

/* Reading and changing the nodes of a graph. */

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                         struct cudaMemcpy3DParms *pNodeParams)
{
    ENTER(cudaGraphMemcpyNodeGetParams_v10000, node, pNodeParams);
    CUDA_MEMCPY3D copy;
    CUresult result = CALL(cuGraphMemcpyNodeGetParams, node, &copy);
    if (result == CUDA_SUCCESS)
        rt_copy3d_back(&copy, pNodeParams);
    LEAVE(result);
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaMemcpy3DParms *pNodeParams)
{
    ENTER(cudaGraphMemcpyNodeSetParams_v10000, node, pNodeParams);
    CUDA_MEMCPY3D copy;
    CUresult result = rt_copy3d(pNodeParams, &copy);
    LEAVE(result == CUDA_SUCCESS ? CALL(cuGraphMemcpyNodeSetParams, node, &copy) : result);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src,
                                           size_t count, enum cudaMemcpyKind kind)
{
    ENTER(cudaGraphMemcpyNodeSetParams1D_v11010, node, dst, src, count, kind);
    CUDA_MEMCPY3D copy;
    CUresult result = rt_row(dst, src, count, kind, &copy);
    LEAVE(result == CUDA_SUCCESS ? CALL(cuGraphMemcpyNodeSetParams, node, &copy) : result);
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *pNodeParams)
{
    ENTER(cudaGraphMemsetNodeGetParams_v10000, node, pNodeParams);
    CUDA_MEMSET_NODE_PARAMS params;
    CUresult result = CALL(cuGraphMemsetNodeGetParams, node, &params);
    if (result == CUDA_SUCCESS)
        *pNodeParams = (struct cudaMemsetParams){(void *)(uintptr_t)params.dst,
                                                 params.pitch,
                                                 params.value,
                                                 params.elementSize,
                                                 params.width,
                                                 params.height};
    LEAVE(result);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaMemsetParams *pNodeParams)
{
    ENTER(cudaGraphMemsetNodeSetParams_v10000, node, pNodeParams);
    CUDA_MEMSET_NODE_PARAMS params = rt_fill(pNodeParams);
    LEAVE(CALL(cuGraphMemsetNodeSetParams, node, &params));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *pNodeParams)
{
    ENTER(cudaGraphHostNodeGetParams_v10000, node, pNodeParams);
    CUDA_HOST_NODE_PARAMS params = {0};
    CUresult result = CALL(cuGraphHostNodeGetParams, node, &params);
    if (result == CUDA_SUCCESS)
        *pNodeParams = (struct cudaHostNodeParams){params.fn, params.userData};
    LEAVE(result);
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                       const struct cudaHostNodeParams *pNodeParams)
{
    ENTER(cudaGraphHostNodeSetParams_v10000, node, pNodeParams);
    CUDA_HOST_NODE_PARAMS params = {.fn = pNodeParams->fn, .userData = pNodeParams->userData};
    LEAVE(CALL(cuGraphHostNodeSetParams, node, &params));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaKernelNodeParams *pNodeParams)
{
    ENTER(cudaGraphKernelNodeSetParams_v10000, node, pNodeParams);
    CUDA_KERNEL_NODE_PARAMS params;
    CUresult result = rt_kernel(pNodeParams, &params);
    LEAVE(result == CUDA_SUCCESS ? CALL(cuGraphKernelNodeSetParams, node, &params) : result);
}
