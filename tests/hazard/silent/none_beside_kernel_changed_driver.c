// expect: none
//
// The first input of a kernel is uploaded beside the capture. For each further launch the kernel is
// given another buffer, which was uploaded meanwhile.
#include "left_out.h"

int main(void)
{
    driver_start();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL;
    size_t one = 1;
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    CUstream uploads = driver_new_stream();
    void *source = driver_pinned_block(SMALL, WANTED);
    CUdeviceptr inputs[] = {driver_device_block(SMALL, 0), driver_device_block(SMALL, 0)};
    CUdeviceptr result = driver_device_block(SMALL, 0);
    unsigned count = (unsigned)SMALL;

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyHtoDAsync(inputs[0], source, SMALL, uploads));
    launch_copy(kernel, result, inputs[0], stream);
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphGetNodes(graph, &node, &one));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuStreamSynchronize(uploads));
    driver_replay(exec, stream);

    fill(source, SMALL, NEXT);
    CHECK(cuMemcpyHtoDAsync(inputs[1], source, SMALL, uploads));
    CHECK(cuStreamSynchronize(uploads));
    void *parameters[] = {&result, &inputs[1], &count};
    CUDA_KERNEL_NODE_PARAMS params = copy_node_params(kernel, parameters);
    CHECK(cuGraphExecKernelNodeSetParams(exec, node, &params));
    driver_replay(exec, stream);
    return finish(!broken && driver_device_holds(result, SMALL, NEXT));
}
