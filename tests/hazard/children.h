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

#endif
