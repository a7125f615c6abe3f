/* For the twins whose copies stand in the body of a conditional node. */
#ifndef SC_TESTS_HAZARD_CONDITIONAL_H
#define SC_TESTS_HAZARD_CONDITIONAL_H

#include "graphs_driver.h"

/* The bodies of a new node, which the driver keeps. `value` is its condition in every launch. */
static TWIN_HELPER const CUgraph *bodies_of(CUgraph graph, CUgraphConditionalNodeType type,
                                            unsigned size, unsigned value)
{
    CUcontext context = NULL;
    CUgraphNode node = NULL;
    CUgraphNodeParams params;
    memset(&params, 0, sizeof params);
    CHECK(cuCtxGetCurrent(&context));
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = context;
    CHECK(cuGraphConditionalHandleCreate(&params.conditional.handle, graph, context, value,
                                         CU_GRAPH_COND_ASSIGN_DEFAULT));
    CHECK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    return params.conditional.phGraph_out;
}

/* The body of a new IF node, which runs in every launch. */
static TWIN_HELPER CUgraph body_of_if(CUgraph graph)
{
    return bodies_of(graph, CU_GRAPH_COND_TYPE_IF, 1, 1)[0];
}

static inline void capture_into(CUgraph body, CUdeviceptr to, const void *from, size_t size_bytes,
                                CUstream stream)
{
    CUgraph same = NULL;
    CHECK(cuStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0,
                                      CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuMemcpyHtoDAsync(to, from, size_bytes, stream));
    CHECK(cuStreamEndCapture(stream, &same));
}

#endif
