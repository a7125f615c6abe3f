// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A node that is disabled does not read its source, so that a launch is well after the source has
// been freed. Then the node is enabled again.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    size_t count = 1;
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, WANTED);
    void *source = filled_block(SMALL, WANTED);
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphGetNodes(graph, &node, &count));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    CHECK(cuGraphNodeSetEnabled(exec, node, 0));
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    driver_replay(exec, stream);
    if (!fixed) {
        CHECK(cuGraphNodeSetEnabled(exec, node, 1));
        driver_replay(exec, stream);
    }

    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
