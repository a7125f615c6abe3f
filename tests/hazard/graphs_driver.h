/* For the twins that build graphs by the driver API. */
#ifndef SC_TESTS_HAZARD_GRAPHS_DRIVER_H
#define SC_TESTS_HAZARD_GRAPHS_DRIVER_H

#include "twin_driver.h"

static TWIN_HELPER void add_copy(CUgraph graph, CUdeviceptr to, const void *from)
{
    CUgraphNode node = NULL;
    CUcontext context = NULL;
    CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = from,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = to,
        .WidthInBytes = SMALL,
        .Height = 1,
        .Depth = 1,
    };
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
}

static TWIN_HELPER void driver_replay(CUgraphExec exec, CUstream stream)
{
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
}

#endif
