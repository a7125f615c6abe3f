// expect: SC501 action=reported kind=device direction=H2D event=cuGraphLaunch
// options: device=1:kernels=report
//
// A kernel stands before the conditional node, and may set the condition. So the body, which reads
// what another stream fills, is a possible use, as a kernel's is. Nobody heals it.
#include "conditional.h"
#include "kernel.h"

int main(void)
{
    driver_start();
    CUstream work = driver_new_stream(), up = driver_new_stream();
    CUevent filled = driver_new_event();
    void *source = driver_pinned_block(SMALL, WANTED);
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN),
                result = driver_device_block(SMALL, 0);
    CUdeviceptr to = driver_device_block(SMALL, 0), from = driver_device_block(SMALL, 0);
    CUgraph graph = NULL, same = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL;
    unsigned count = (unsigned)SMALL;
    void *parameters[] = {&to, &from, &count};
    const CUDA_KERNEL_NODE_PARAMS kernel = copy_node_params(copying_kernel(), parameters);
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    CUgraphConditionalHandle handle = condition_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraph body = bodies_behind(graph, &node, 1, handle, CU_GRAPH_COND_TYPE_IF, 1)[0];
    CHECK(cuStreamBeginCaptureToGraph(work, body, NULL, NULL, 0,
                                      CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuMemcpyDtoDAsync(result, device, SMALL, work));
    CHECK(cuStreamEndCapture(work, &same));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    driver_busy(up);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, up));
    CHECK(cuEventRecord(filled, up));
    if (fixed)
        CHECK(cuStreamWaitEvent(work, filled, 0));
    CHECK(cuGraphLaunch(exec, work));

    CHECK(cuCtxSynchronize());
    return finish(!fixed || driver_device_holds(result, SMALL, WANTED));
}
