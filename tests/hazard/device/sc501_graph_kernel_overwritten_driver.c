// expect: SC501 action=ordered kind=device event=cuMemcpyHtoDAsync_v2 direction=none
// options: device=1:kernels=order
//
// The next input is uploaded while a graph in another stream has still to read the last one, in a
// kernel of its child graph.
#include "graphs_driver.h"
#include "kernel.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream upload = driver_new_stream(), compute = driver_new_stream();
    CUevent computed = driver_new_event();
    CUgraph child = NULL, graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    void *next = driver_pinned_block(SMALL, FOREIGN);
    CUdeviceptr input = driver_device_block(SMALL, WANTED);
    CUdeviceptr result = driver_device_block(SMALL, 0);
    CHECK(cuStreamBeginCapture(compute, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch_copy(kernel, result, input, compute);
    CHECK(cuStreamEndCapture(compute, &child));
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    CHECK(cuGraphInstantiate(&exec, graph, 0));

    driver_busy(compute);
    CHECK(cuGraphLaunch(exec, compute));
    CHECK(cuEventRecord(computed, compute));
    if (fixed)
        CHECK(cuStreamWaitEvent(upload, computed, 0));
    CHECK(cuMemcpyHtoDAsync(input, next, SMALL, upload));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED));
}
