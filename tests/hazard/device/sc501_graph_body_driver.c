// expect: SC501 action=ordered kind=device direction=H2D event=cuGraphLaunch certainty=observed
// options: device=1
//
// The body of a conditional node reads what another stream fills. It runs in every launch: the
// condition begins as true, and no kernel runs before the node.
#include "conditional.h"

int main(void)
{
    driver_start();
    CUstream work = driver_new_stream(), up = driver_new_stream();
    CUevent filled = driver_new_event();
    void *source = driver_pinned_block(SMALL, WANTED);
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN),
                result = driver_device_block(SMALL, 0);
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CHECK(cuGraphCreate(&graph, 0));
    CUgraph body = body_of_if(graph), same = NULL;
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
    return finish(driver_device_holds(result, SMALL, WANTED));
}
