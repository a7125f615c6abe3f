/* For the twins that build graphs by the driver API. */
#ifndef SC_TESTS_HAZARD_GRAPHS_DRIVER_H
#define SC_TESTS_HAZARD_GRAPHS_DRIVER_H

#include "twin_driver.h"

static TWIN_HELPER void driver_replay(CUgraphExec exec, CUstream stream)
{
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
}

/* SMALL bytes, as the struct for nodes of all types has them. */
static TWIN_HELPER CUgraphNodeParams driver_copy_params(CUdeviceptr to, const void *from)
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

#endif
