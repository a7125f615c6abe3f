// expect: SC501 action=reported nodes=memset-*-cuGraphAddMemsetNode,D2D-read-*-cuGraphAddMemcpyN*
// options: device=1
//
// Two nodes that are added by hand, of which one clears what the other one is to copy within the
// device. No edge orders them. Both are named, with the calls that added them.
#include "twin_driver.h"

static CUgraphNode add_move(CUgraph graph, const CUgraphNode *behind, CUdeviceptr to,
                            CUdeviceptr from)
{
    CUgraphNode node = NULL;
    CUcontext context = NULL;
    const CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = from,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = to,
        .WidthInBytes = SMALL,
        .Height = 1,
        .Depth = 1,
    };
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuGraphAddMemcpyNode(&node, graph, behind, behind ? 1 : 0, &copy, context));
    return node;
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr from = driver_device_block(SMALL, WANTED), to = driver_device_block(SMALL, 0);
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CHECK(cuGraphCreate(&graph, 0));
    CUgraphNode cleared = add_clear(graph, from);
    add_move(graph, fixed ? &cleared : NULL, to, from);
    CHECK(cuGraphInstantiate(&exec, graph, 0));

    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuGraphLaunch(exec, stream)); /* found once */

    CHECK(cuCtxSynchronize());
    return finish(true);
}
