// expect: SC403 action=stalled
// needs: sim
//
// A copy stands behind a node that signals an external semaphore, which tells that the launch has
// begun. The racy build takes that for the end of the copy.
#include "external.h"

int main(void)
{
    driver_start();
    const struct timeline timeline = imported_timeline();
    CUstream stream = driver_new_stream();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *input = driver_pinned_block(SMALL, WANTED);
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    stream_signals(&timeline, 1, stream);
    CHECK(cuMemcpyHtoDAsync(device, input, SMALL, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    CHECK(cuGraphLaunch(exec, stream));
    party_waits(&timeline, 1);
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(input, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}
