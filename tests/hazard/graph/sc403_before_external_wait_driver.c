// expect: SC403 action=stalled certainty=observed
// needs: sim
//
// A copy stands before a node that waits for an external semaphore, which tells nobody that the
// copy is done. Another stream signals. The racy build fills the source before the launch is done.
#include "external.h"

int main(void)
{
    driver_start();
    const struct timeline timeline = imported_timeline();
    CUstream stream = driver_new_stream(), other = driver_new_stream();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *input = driver_pinned_block(SMALL, WANTED);
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuMemcpyHtoDAsync(device, input, SMALL, stream));
    stream_waits(&timeline, 1, stream);
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    driver_busy(stream);
    CHECK(cuGraphLaunch(exec, stream));
    stream_signals(&timeline, 1, other);
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(input, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}
