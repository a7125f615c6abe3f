// expect-exit: 0
// link: cuda
//
// Host nodes of a graph that copies host memory: what the driver says of their functions, what
// these are called with, in which order, and what becomes of changes that it refuses.
#include "survival.h"

#include <cuda.h>
#include <string.h>

enum { SIZE = 64 << 10 };

static char heard[64];

static void CUDART_CB hear(void *data)
{
    strcat(heard, (const char *)data);
}

static void CUDART_CB hear_twice(void *data)
{
    hear(data);
    hear(data);
}

static const char *name_of(CUhostFn function)
{
    return function == hear ? "hear" : function == hear_twice ? "hear_twice" : "another";
}

static void show(const char *what, CUgraphNode node)
{
    CUDA_HOST_NODE_PARAMS params = {NULL, NULL};
    int result = (int)cuGraphHostNodeGetParams(node, &params);
    printf("%s: %d %s \"%s\"\n", what, result, name_of(params.fn), (const char *)params.userData);
}

static void launch(CUgraphExec exec, CUstream stream, int times)
{
    heard[0] = 0;
    for (int i = 0; i < times; i++)
        SHOW(cuGraphLaunch(exec, stream));
    SHOW(cuStreamSynchronize(stream));
    printf("heard \"%s\"\n", heard);
}

int main(void)
{
    cudaStream_t stream = NULL;
    cudaGraph_t graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode nodes[4];
    CUgraphNode hosts[2];
    size_t count = 4;
    void *device = NULL;
    void *pinned = NULL;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, SIZE));
    CHECK(cudaMallocHost(&pinned, SIZE));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemcpyAsync(device, pinned, SIZE, cudaMemcpyHostToDevice, stream));
    CHECK(cudaLaunchHostFunc(stream, hear, (void *)(uintptr_t) "a"));
    CHECK(cudaLaunchHostFunc(stream, hear, (void *)(uintptr_t) "b"));
    CHECK(cudaStreamEndCapture(stream, &graph));
    SHOW(cuGraphGetNodes(graph, nodes, &count));
    for (size_t i = 0, found = 0; i < count; i++) {
        CUgraphNodeType type;
        CHECK(cuGraphNodeGetType(nodes[i], &type));
        if (type == CU_GRAPH_NODE_TYPE_HOST && found < 2)
            hosts[found++] = nodes[i];
    }

    SHOW(cuGraphInstantiateWithFlags(&exec, graph, 0));
    show("first", hosts[0]);
    show("second", hosts[1]);
    launch(exec, stream, 3);

    CUDA_HOST_NODE_PARAMS params = {hear_twice, (void *)(uintptr_t) "c"};
    SHOW(cuGraphExecHostNodeSetParams(exec, hosts[0], &params));
    show("first", hosts[0]);
    launch(exec, stream, 2);
    params.fn = NULL;
    SHOW(cuGraphExecHostNodeSetParams(exec, hosts[0], &params));
    SHOW(cuGraphExecHostNodeSetParams(exec, nodes[0], &params));
    launch(exec, stream, 1);

    params = (CUDA_HOST_NODE_PARAMS){hear, (void *)(uintptr_t) "d"};
    SHOW(cuGraphHostNodeSetParams(hosts[1], &params));
    launch(exec, stream, 1);
    CUgraphExecUpdateResultInfo info;
    SHOW(cuGraphExecUpdate(exec, graph, &info));
    launch(exec, stream, 2);
    SHOW(cuGraphExecDestroy(exec));
    SHOW(cuGraphDestroy(graph));
    return 0;
}
