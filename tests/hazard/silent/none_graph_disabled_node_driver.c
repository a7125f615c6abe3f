// expect: none
//
// One of two nodes is disabled in the exec, and the memory that it would read is freed.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    size_t count = 1;
    CUgraph graph = NULL;
    CUgraphNode first = NULL;
    CUgraphExec exec = NULL;
    CUstream stream = driver_new_stream();
    CUdeviceptr one = driver_device_block(SMALL, 0);
    CUdeviceptr two = driver_device_block(SMALL, 0);
    void *freed = filled_block(SMALL, FOREIGN);
    void *source = filled_block(SMALL, WANTED);
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyHtoDAsync(one, freed, SMALL, stream));
    CHECK(cuMemcpyHtoDAsync(two, source, SMALL, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphGetRootNodes(graph, &first, &count));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    CHECK(cuGraphNodeSetEnabled(exec, first, 0));
    free(freed);
    void *owner = filled_block(SMALL, FOREIGN);
    driver_replay(exec, stream);
    driver_replay(exec, stream);

    bool right = driver_device_holds(one, SMALL, 0) && driver_device_holds(two, SMALL, WANTED);
    return finish(right && holds(owner, SMALL, FOREIGN));
}
