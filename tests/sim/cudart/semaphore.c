/* External semaphores, and nodes that signal them or wait for them. The structs are the driver's,
 * word for word. */
#include "runtime.h"

_Static_assert(sizeof(struct cudaExternalSemaphoreHandleDesc) ==
                   sizeof(CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC),
               "");
_Static_assert(sizeof(struct cudaExternalSemaphoreSignalParams) ==
                   sizeof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS),
               "");
_Static_assert(sizeof(struct cudaExternalSemaphoreWaitParams) ==
                   sizeof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS),
               "");

cudaError_t cudaImportExternalSemaphore(cudaExternalSemaphore_t *extSem_out,
                                        const struct cudaExternalSemaphoreHandleDesc *semHandleDesc)
{
    ENTER(cudaImportExternalSemaphore_v10000, extSem_out, semHandleDesc);
    LEAVE(CALL(cuImportExternalSemaphore, (CUexternalSemaphore *)(void *)extSem_out,
               (const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *)(const void *)semHandleDesc));
}

cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t extSem)
{
    ENTER(cudaDestroyExternalSemaphore_v10000, extSem);
    LEAVE(CALL(cuDestroyExternalSemaphore, (CUexternalSemaphore)(void *)extSem));
}

#define NODE(Name, runtime_params, driver_params)                                                  \
    cudaError_t cudaGraphAddExternalSemaphores##Name##Node(                                        \
        cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,      \
        size_t numDependencies, const struct runtime_params *nodeParams)                           \
    {                                                                                              \
        ENTER(cudaGraphAddExternalSemaphores##Name##Node_v11020, pGraphNode, graph, pDependencies, \
              numDependencies, nodeParams);                                                        \
        LEAVE(CALL(cuGraphAddExternalSemaphores##Name##Node, pGraphNode, graph, pDependencies,     \
                   numDependencies, (const driver_params *)(const void *)nodeParams));             \
    }                                                                                              \
    cudaError_t cudaGraphExternalSemaphores##Name##NodeGetParams(                                  \
        cudaGraphNode_t hNode, struct runtime_params *params_out)                                  \
    {                                                                                              \
        ENTER(cudaGraphExternalSemaphores##Name##NodeGetParams_v11020, hNode, params_out);         \
        LEAVE(CALL(cuGraphExternalSemaphores##Name##NodeGetParams, hNode,                          \
                   (driver_params *)(void *)params_out));                                          \
    }                                                                                              \
    cudaError_t cudaGraphExternalSemaphores##Name##NodeSetParams(                                  \
        cudaGraphNode_t hNode, const struct runtime_params *nodeParams)                            \
    {                                                                                              \
        ENTER(cudaGraphExternalSemaphores##Name##NodeSetParams_v11020, hNode, nodeParams);         \
        LEAVE(CALL(cuGraphExternalSemaphores##Name##NodeSetParams, hNode,                          \
                   (const driver_params *)(const void *)nodeParams));                              \
    }                                                                                              \
    cudaError_t cudaGraphExecExternalSemaphores##Name##NodeSetParams(                              \
        cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,                                         \
        const struct runtime_params *nodeParams)                                                   \
    {                                                                                              \
        ENTER(cudaGraphExecExternalSemaphores##Name##NodeSetParams_v11020, hGraphExec, hNode,      \
              nodeParams);                                                                         \
        LEAVE(CALL(cuGraphExecExternalSemaphores##Name##NodeSetParams, hGraphExec, hNode,          \
                   (const driver_params *)(const void *)nodeParams));                              \
    }

NODE(Signal, cudaExternalSemaphoreSignalNodeParams, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS)
NODE(Wait, cudaExternalSemaphoreWaitNodeParams, CUDA_EXT_SEM_WAIT_NODE_PARAMS)
