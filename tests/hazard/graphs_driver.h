/* For the twins that build graphs by the driver API. */
#ifndef SC_TESTS_HAZARD_GRAPHS_DRIVER_H
#define SC_TESTS_HAZARD_GRAPHS_DRIVER_H

#include "twin_driver.h"

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

/* The graph of two copies, SMALL bytes each, captured one behind the other. */
static TWIN_HELPER CUgraph driver_two_uploads(CUdeviceptr one, const void *first, CUdeviceptr two,
                                              const void *second, CUstream stream)
{
    CUgraph graph = NULL;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyHtoDAsync(one, first, SMALL, stream));
    CHECK(cuMemcpyHtoDAsync(two, second, SMALL, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    return graph;
}

#endif
