// expect: none
//
// What a captured node reads was uploaded beside the capture, once. The node is pointed elsewhere,
// or destroyed, before there is an exec; or it is disabled in the exec after the first launch.
#include "left_out.h"

static CUfunction kernel;
static CUdeviceptr input, other, result;

static void point_copy(CUgraphNode node)
{
    CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = other,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = result,
        .WidthInBytes = SMALL,
        .Height = 1,
        .Depth = 1,
    };
    CHECK(cuGraphMemcpyNodeSetParams(node, &copy));
}

static void point_kernel(CUgraphNode node)
{
    unsigned count = (unsigned)SMALL;
    void *parameters[] = {&result, &other, &count};
    CUDA_KERNEL_NODE_PARAMS params = copy_node_params(kernel, parameters);
    CHECK(cuGraphKernelNodeSetParams(node, &params));
}

enum { COPY_POINTED, KERNEL_POINTED, DESTROYED, DISABLED, HOWS };

static bool runs(int how)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL;
    size_t one = 1;
    CUstream stream = driver_new_stream();
    CUstream uploads = driver_new_stream();
    void *source = driver_pinned_block(SMALL, FOREIGN);
    result = driver_device_block(SMALL, WANTED);

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemcpyHtoDAsync(input, source, SMALL, uploads));
    CHECK(cuStreamSynchronize(uploads));
    if (how == COPY_POINTED)
        CHECK(cuMemcpyDtoDAsync(result, input, SMALL, stream));
    else
        launch_copy(kernel, result, input, stream);
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphGetNodes(graph, &node, &one));
    if (how == COPY_POINTED)
        point_copy(node);
    else if (how == KERNEL_POINTED)
        point_kernel(node);
    else if (how == DESTROYED)
        CHECK(cuGraphDestroyNode(node));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    driver_replay(exec, stream);
    if (how == DISABLED) {
        CHECK(cuGraphNodeSetEnabled(exec, node, 0));
        CHECK(cuMemcpyDtoD(result, other, SMALL));
    }
    driver_replay(exec, stream);
    driver_replay(exec, stream);
    return driver_device_holds(result, SMALL, WANTED);
}

int main(void)
{
    bool right = true;
    driver_start();
    kernel = copying_kernel();
    input = driver_device_block(SMALL, 0);
    other = driver_device_block(SMALL, WANTED);
    for (int how = 0; how < HOWS; how++)
        right = runs(how) && right;
    return finish(!broken && right);
}
