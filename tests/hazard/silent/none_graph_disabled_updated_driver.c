// expect: none
//
// A node is disabled in the exec, which is then updated: the node stays disabled, and the memory
// that it would read is freed.
#include "graphs_driver.h"

int main(void)
{
    driver_start();
    size_t count = 1;
    CUgraphNode first = NULL;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo result;
    CUstream stream = driver_new_stream();
    CUdeviceptr one = driver_device_block(SMALL, 0);
    CUdeviceptr two = driver_device_block(SMALL, 0);
    void *former = filled_block(SMALL, FOREIGN);
    void *freed = filled_block(SMALL, FOREIGN);
    void *source = filled_block(SMALL, WANTED);
    CUgraph graph = driver_two_uploads(one, former, two, source, stream);
    CUgraph update = driver_two_uploads(one, freed, two, source, stream);
    CHECK(cuGraphGetRootNodes(graph, &first, &count));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    CHECK(cuGraphNodeSetEnabled(exec, first, 0));
    CHECK(cuGraphExecUpdate(exec, update, &result));
    CHECK(cuGraphDestroy(update));
    free(freed);
    void *owner = filled_block(SMALL, FOREIGN);
    driver_replay(exec, stream);
    driver_replay(exec, stream);

    bool right = driver_device_holds(one, SMALL, 0) && driver_device_holds(two, SMALL, WANTED);
    return finish(right && holds(owner, SMALL, FOREIGN));
}
