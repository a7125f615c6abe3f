// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The driver API, without a runtime in the process: a captured copy and a node added by hand.
#include "graphs_driver.h"

int main(void)
{
    driver_start();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUstream stream = driver_new_stream();
    CUdeviceptr one = driver_device_block(SMALL, 0);
    CUdeviceptr two = driver_device_block(SMALL, 0);
    void *captured = driver_registered_block(SMALL, WANTED);
    void *added = driver_pinned_block(SMALL, WANTED);
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyHtoDAsync(one, captured, SMALL, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    add_copy(graph, two, added);
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    if (fixed)
        driver_replay(exec, stream);
    CHECK(cuMemHostUnregister(captured));
    free(captured);
    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuMemFreeHost(added));
    void *next = driver_pinned_block(SMALL, FOREIGN);
    if (!fixed)
        driver_replay(exec, stream);

    bool right = holds(owner, SMALL, FOREIGN) && holds(next, SMALL, FOREIGN);
    right = right && driver_device_holds(one, SMALL, WANTED);
    return finish(right && driver_device_holds(two, SMALL, WANTED));
}
