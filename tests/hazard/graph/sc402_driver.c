// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// The driver API, without a runtime in the process.
#include "graphs.h"
#include "twin_driver.h"

enum { BYTES = 96 };

static TWIN_HELPER CUgraphExec record(CUdeviceptr device, CUstream stream)
{
    static unsigned char kept[BYTES];
    unsigned char local[BYTES];
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    fill(fixed ? kept : local, BYTES, WANTED);
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemcpyHtoDAsync(device, fixed ? kept : local, BYTES, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphDestroy(graph));
    return exec;
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(BYTES, 0);
    CUgraphExec exec = record(device, stream);

    reuse_stack();
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    return finish(driver_device_holds(device, BYTES, WANTED));
}
