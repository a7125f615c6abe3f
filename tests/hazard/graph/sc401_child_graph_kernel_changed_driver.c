// expect: SC401 action=held certainty=observed event=cuGraphLaunch
// options: device=1:kernels=report
//
// A kernel in a child graph is given other parameters in the exec alone, by its own name. The copy
// beside it goes on to name its source, which the racy build frees before a launch.
#include "children.h"
#include "kernel.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0), other = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, WANTED);
    CUgraph graph = new_graph(), child = new_graph();
    add_copy(child, device, source);
    CUgraphNode node = add_own_kernel(child, NULL);
    moved_child(graph, child);
    CUgraphExec exec = exec_of(graph);

    CUdeviceptr from = driver_device_block(SMALL, 0);
    unsigned count = (unsigned)SMALL;
    void *parameters[] = {&other, &from, &count};
    const CUDA_KERNEL_NODE_PARAMS kernel = copy_node_params(copying_kernel(), parameters);
    CUgraphNodeParams params;
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_KERNEL;
    params.kernel.func = kernel.func;
    params.kernel.gridDimX = kernel.gridDimX;
    params.kernel.gridDimY = params.kernel.gridDimZ = 1;
    params.kernel.blockDimX = kernel.blockDimX;
    params.kernel.blockDimY = params.kernel.blockDimZ = 1;
    params.kernel.kernelParams = parameters;
    CHECK(cuGraphExecNodeSetParams(exec, node, &params));

    if (!fixed)
        CHECK(cuMemFreeHost(source));
    void *next = driver_pinned_block(SMALL, FOREIGN);
    driver_replay(exec, stream);
    return finish(holds(next, SMALL, FOREIGN) && driver_device_holds(device, SMALL, WANTED));
}
