// expect: SC204 action=ordered certainty=observed direction=D2H event=cuMemcpyHtoDAsync_v2
//
// The body of a conditional node is still to write what another stream reads.
#include "conditional.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream(), other = driver_new_stream();
    CUevent done = driver_new_event();
    CUdeviceptr device = driver_device_block(SMALL, WANTED), up = driver_device_block(SMALL, 0);
    void *result = driver_pinned_block(SMALL, 0);
    CUgraph graph = new_graph();
    add_download(body_of_if(graph), result, device);
    CUgraphExec exec = exec_of(graph);

    driver_busy(stream);
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuEventRecord(done, stream));
    if (fixed)
        CHECK(cuStreamWaitEvent(other, done, 0));
    CHECK(cuMemcpyHtoDAsync(up, result, SMALL, other));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(up, SMALL, WANTED));
}
