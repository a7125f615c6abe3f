// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// Nodes by the one struct for nodes of all types: added, then changed in the graph, then in the
// exec. Each time what is no longer named may be freed; the last source may not.
#include "graphs_driver.h"

int main(void)
{
    driver_start();
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *sources[3];
    for (int i = 0; i < 3; i++)
        sources[i] = driver_pinned_block(SMALL, i == 2 ? WANTED : FOREIGN);

    CUgraphNodeParams params = driver_copy_params(device, sources[0]);
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params = driver_copy_params(device, sources[1]);
    CHECK(cuGraphNodeSetParams(node, &params));
    CHECK(cuMemFreeHost(sources[0]));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    driver_replay(exec, stream);
    params = driver_copy_params(device, sources[2]);
    CHECK(cuGraphExecNodeSetParams(exec, node, &params));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuMemFreeHost(sources[1]));

    if (fixed)
        driver_replay(exec, stream);
    CHECK(cuMemFreeHost(sources[2]));
    for (int i = 0; i < 3; i++)
        sources[i] = driver_pinned_block(SMALL, FOREIGN);
    if (!fixed)
        driver_replay(exec, stream);

    return finish(driver_device_holds(device, SMALL, WANTED));
}
