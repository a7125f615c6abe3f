// expect: SC401 action=held certainty=observed event=cuGraphLaunch
// sim: driver=13040
// needs: sim
//
// A node is added and changed by the functions of CUDA 13.4. Its first source may be freed then;
// the second may not.
#include "graphs_driver.h"
#include "newer.h"

int main(void)
{
    driver_start();
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *sources[2] = {driver_pinned_block(SMALL, FOREIGN), driver_pinned_block(SMALL, WANTED)};

    CUgraphNodeParams params = driver_copy_params(device, sources[0]);
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(NEWER(cuGraphAddNode, 13040)(&node, graph, NULL, NULL, 0, &params));
    params = driver_copy_params(device, sources[1]);
    CHECK(NEWER(cuGraphNodeSetParams, 13040)(node, &params));
    CHECK(cuMemFreeHost(sources[0]));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    if (fixed)
        driver_replay(exec, stream);
    CHECK(cuMemFreeHost(sources[1]));
    sources[0] = driver_pinned_block(SMALL, FOREIGN);
    sources[1] = driver_pinned_block(SMALL, FOREIGN);
    if (!fixed)
        driver_replay(exec, stream);
    return finish(driver_device_holds(device, SMALL, WANTED));
}
