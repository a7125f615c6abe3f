/* Executable graphs: from a graph, changed in place, destroyed. */
#include "runtime.h"

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                 unsigned long long flags)
{
    ENTER(cudaGraphInstantiate_v12000, pGraphExec, graph, flags);
    LEAVE(CALL(cuGraphInstantiateWithFlags, pGraphExec, graph, flags));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                          unsigned long long flags)
{
    ENTER(cudaGraphInstantiateWithFlags_v11040, pGraphExec, graph, flags);
    LEAVE(CALL(cuGraphInstantiateWithFlags, pGraphExec, graph, flags));
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long *flags)
{
    ENTER(cudaGraphExecGetFlags_v12000, graphExec, flags);
    LEAVE(CALL(cuGraphExecGetFlags, graphExec, (cuuint64_t *)(void *)flags));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *pNodeParams)
{
    ENTER(cudaGraphExecMemcpyNodeSetParams_v10020, hGraphExec, node, pNodeParams);
    CUDA_MEMCPY3D copy;
    CUresult result = rt_copy3d(pNodeParams, &copy);
    if (result == CUDA_SUCCESS)
        result =
            CALL(cuGraphExecMemcpyNodeSetParams, hGraphExec, node, &copy, rt_current_context());
    LEAVE(result);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                               void *dst, const void *src, size_t count,
                                               enum cudaMemcpyKind kind)
{
    ENTER(cudaGraphExecMemcpyNodeSetParams1D_v11010, hGraphExec, node, dst, src, count, kind);
    CUDA_MEMCPY3D copy;
    CUresult result = rt_row(dst, src, count, kind, &copy);
    if (result == CUDA_SUCCESS)
        result =
            CALL(cuGraphExecMemcpyNodeSetParams, hGraphExec, node, &copy, rt_current_context());
    LEAVE(result);
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *pNodeParams)
{
    ENTER(cudaGraphExecMemsetNodeSetParams_v10020, hGraphExec, node, pNodeParams);
    CUDA_MEMSET_NODE_PARAMS params = rt_fill(pNodeParams);
    LEAVE(CALL(cuGraphExecMemsetNodeSetParams, hGraphExec, node, &params, rt_current_context()));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams *pNodeParams)
{
    ENTER(cudaGraphExecHostNodeSetParams_v10020, hGraphExec, node, pNodeParams);
    CUDA_HOST_NODE_PARAMS params = {.fn = pNodeParams->fn, .userData = pNodeParams->userData};
    LEAVE(CALL(cuGraphExecHostNodeSetParams, hGraphExec, node, &params));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *pNodeParams)
{
    ENTER(cudaGraphExecKernelNodeSetParams_v10010, hGraphExec, node, pNodeParams);
    CUDA_KERNEL_NODE_PARAMS params;
    CUresult result = rt_kernel(pNodeParams, &params);
    if (result == CUDA_SUCCESS)
        result = CALL(cuGraphExecKernelNodeSetParams, hGraphExec, node, &params);
    LEAVE(result);
}

_Static_assert(sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo), "");

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                cudaGraphExecUpdateResultInfo *resultInfo)
{
    ENTER(cudaGraphExecUpdate_v10020, hGraphExec, hGraph, resultInfo);
    LEAVE(CALL(cuGraphExecUpdate, hGraphExec, hGraph,
               (CUgraphExecUpdateResultInfo *)(void *)resultInfo));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec)
{
    ENTER(cudaGraphExecDestroy_v10000, graphExec);
    LEAVE(CALL(cuGraphExecDestroy, graphExec));
}
