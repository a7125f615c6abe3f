/* For the twins that change nodes of child graphs in an exec. */
#ifndef SC_TESTS_HAZARD_CHILDREN_H
#define SC_TESTS_HAZARD_CHILDREN_H

#include "conditional.h"

/* A node of the graph that the child is moved into: the child's handles go on to name its nodes. */
static TWIN_HELPER CUgraphNode moved_child(CUgraph graph, CUgraph child)
{
    CUgraphNode node = NULL;
    CUgraphNodeParams params;
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_GRAPH;
    params.graph.graph = child;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    CHECK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    return node;
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

#endif
