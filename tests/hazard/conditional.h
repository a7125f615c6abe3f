/* For the twins whose copies stand in the body of a conditional node. */
#ifndef SC_TESTS_HAZARD_CONDITIONAL_H
#define SC_TESTS_HAZARD_CONDITIONAL_H

#include "graphs_driver.h"

/* The bodies of a new node behind others, which the driver keeps. */
static TWIN_HELPER const CUgraph *bodies_behind(CUgraph graph, const CUgraphNode *before,
                                                size_t count, CUgraphConditionalHandle handle,
                                                CUgraphConditionalNodeType type, unsigned size)
{
    CUcontext context = NULL;
    CUgraphNode node = NULL;
    CUgraphNodeParams params;
    memset(&params, 0, sizeof params);
    CHECK(cuCtxGetCurrent(&context));
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = context;
    CHECK(cuGraphAddNode(&node, graph, before, NULL, count, &params));
    return params.conditional.phGraph_out;
}

static TWIN_HELPER CUgraphConditionalHandle condition_of(CUgraph graph, unsigned value,
                                                         unsigned flags)
{
    CUcontext context = NULL;
    CUgraphConditionalHandle handle = 0;
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuGraphConditionalHandleCreate(&handle, graph, context, value, flags));
    return handle;
}

/* The same of a node behind no other. `value` is its condition in every launch. */
static TWIN_HELPER const CUgraph *bodies_of(CUgraph graph, CUgraphConditionalNodeType type,
                                            unsigned size, unsigned value)
{
    return bodies_behind(graph, NULL, 0, condition_of(graph, value, CU_GRAPH_COND_ASSIGN_DEFAULT),
                         type, size);
}

/* The body of a new IF node, which runs in every launch. */
static TWIN_HELPER CUgraph body_of_if(CUgraph graph)
{
    return bodies_of(graph, CU_GRAPH_COND_TYPE_IF, 1, 1)[0];
}

static TWIN_HELPER CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    CHECK(cuGraphCreate(&graph, 0));
    return graph;
}

static TWIN_HELPER CUgraphExec exec_of(CUgraph graph)
{
    CUgraphExec exec = NULL;
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

/* In the exec alone. */
static TWIN_HELPER void change_copy(CUgraphExec exec, CUgraphNode node, CUdeviceptr to,
                                    const void *from)
{
    CUgraphNodeParams params = driver_copy_params(to, from);
    CHECK(cuGraphExecNodeSetParams(exec, node, &params));
}

/* A launch, while what the exec named formerly has another use. What arrived is the pattern? */
static inline bool launch_without(CUgraphExec exec, void *former, CUdeviceptr device, unsigned seed,
                                  CUstream stream)
{
    driver_busy(stream);
    CHECK(cuGraphLaunch(exec, stream));
    fill(former, SMALL, FOREIGN);
    CHECK(cuMemHostUnregister(former));
    free(former);
    CHECK(cuStreamSynchronize(stream));
    return driver_device_holds(device, SMALL, seed);
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
