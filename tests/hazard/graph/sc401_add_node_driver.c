// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// Nodes by the one struct for nodes of all types: added, then changed in the graph, then in the
// exec. Each time what is no longer named may be freed; the last source may not.
#include "twin_driver.h"

static CUgraphNodeParams copy_of(CUdeviceptr to, const void *from)
{
    CUgraphNodeParams params;
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    params.memcpy.copyParams.srcMemoryType = CU_MEMORYTYPE_HOST;
    params.memcpy.copyParams.srcHost = from;
    params.memcpy.copyParams.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    params.memcpy.copyParams.dstDevice = to;
    params.memcpy.copyParams.WidthInBytes = SMALL;
    params.memcpy.copyParams.Height = 1;
    params.memcpy.copyParams.Depth = 1;
    CHECK(cuCtxGetCurrent(&params.memcpy.copyCtx));
    return params;
}

static void replay(CUgraphExec exec, CUstream stream)
{
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
}

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

    CUgraphNodeParams params = copy_of(device, sources[0]);
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params = copy_of(device, sources[1]);
    CHECK(cuGraphNodeSetParams(node, &params));
    CHECK(cuMemFreeHost(sources[0]));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    replay(exec, stream);
    params = copy_of(device, sources[2]);
    CHECK(cuGraphExecNodeSetParams(exec, node, &params));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuMemFreeHost(sources[1]));

    if (fixed)
        replay(exec, stream);
    CHECK(cuMemFreeHost(sources[2]));
    for (int i = 0; i < 3; i++)
        sources[i] = driver_pinned_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    return finish(driver_device_holds(device, SMALL, WANTED));
}
