// inject: 1
// run: strict=1 -> hazards=0
// run: mode=report -> hazards=0
/* Conditional nodes and their bodies are destroyed, without the preload, and the driver gives their
 * handles to copies and to other graphs. What the library knew of them must be gone: it would look
 * into bodies of copies for ever, and a real driver dies of a graph that is gone. */
#include "profiler.h"

enum { ROUNDS = 12, GRAPHS = 2 };

static void add_copy(CUgraph graph)
{
    CUgraphNode node;
    CUcontext context;
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = pinned,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = (CUdeviceptr)device,
                                .WidthInBytes = BYTES,
                                .Height = 1,
                                .Depth = 1};
    CUDA(cuCtxGetCurrent(&context));
    CUDA(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
}

static void add_conditional(CUgraph graph)
{
    CUgraphNode node;
    CUgraphNodeParams params;
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    CUDA(cuCtxGetCurrent(&params.conditional.ctx));
    CUDA(cuGraphConditionalHandleCreate(&params.conditional.handle, graph, params.conditional.ctx,
                                        1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUDA(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
}

/* The conditional node has another handle each time, and its body the same. */
static void make_and_destroy_bodies(void)
{
    CUgraph graph;
    for (int round = 0; round < ROUNDS; round++) {
        CUDA(cuGraphCreate(&graph, 0));
        for (int i = 0; i < round; i++)
            add_copy(graph);
        add_conditional(graph);
        CUDA(cuGraphDestroy(graph));
    }
}

static void instantiate(CUgraph graph)
{
    CUgraphExec exec;
    CUDA(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CUDA(cuGraphExecDestroy(exec));
}

int main(void)
{
    CUgraph graphs[GRAPHS], other;
    CUDA(cudaMalloc(&device, BYTES));
    CUDA(cudaMallocHost(&pinned, BYTES));
    CUDA(cuGraphCreate(&other, 0));
    add_conditional(other);
    make_and_destroy_bodies();

    for (int i = 0; i < GRAPHS; i++)
        CUDA(cuGraphCreate(&graphs[i], 0));
    for (int i = GRAPHS - 1; i >= 0; i--)
        for (int round = 0; round < ROUNDS; round++)
            add_copy(graphs[i]);
    for (int i = 0; i < GRAPHS; i++)
        instantiate(graphs[i]);
    instantiate(other);
    return 0;
}
