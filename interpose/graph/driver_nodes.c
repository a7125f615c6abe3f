#include "interpose/graph/driver_nodes.h"

#include "interpose/driver/driver.h"
#include "track/pool.h"

#include "track/poison.h"

bool sc_driver_nodes_can_be_asked(void)
{
    return sc_real.cuGraphGetNodes && sc_real.cuGraphNodeGetType &&
           sc_real.cuGraphMemcpyNodeGetParams && sc_real.cuGraphMemsetNodeGetParams &&
           sc_real.cuGraphChildGraphNodeGetGraph;
}

/* Of so many nodes the rest is not looked at. */
enum { LOOKED_AT_MAX = 16 };

static bool does_nothing(CUgraphNode node, int depth)
{
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    CUgraph child = NULL;
    if (sc_real.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
        return true;
    if (type == CU_GRAPH_NODE_TYPE_GRAPH &&
        sc_real.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS)
        return sc_driver_nodes_may_do_nothing(child, depth + 1);
    return type == CU_GRAPH_NODE_TYPE_EMPTY;
}

bool sc_driver_nodes_may_do_nothing(CUgraph graph, int depth)
{
    CUgraphNode nodes[LOOKED_AT_MAX];
    size_t count = LOOKED_AT_MAX;
    if (depth > SC_NODES_DEPTH_MAX || sc_real.cuGraphGetNodes(graph, nodes, &count) != CUDA_SUCCESS)
        return true;
    bool nothing = true;
    for (size_t i = 0; i < count && i < LOOKED_AT_MAX && nothing; i++)
        nothing = does_nothing(nodes[i], depth);
    return nothing;
}

CUgraphNode *sc_driver_nodes_of(CUgraph graph, size_t *count)
{
    size_t room = 0;
    CUgraphNode *nodes = NULL;
    if (sc_real.cuGraphGetNodes(graph, NULL, &room) == CUDA_SUCCESS && room)
        nodes = sc_pages_map(room * sizeof *nodes);
    *count = room;
    if (nodes && (sc_real.cuGraphGetNodes(graph, nodes, count) != CUDA_SUCCESS || *count > room)) {
        sc_driver_nodes_free(nodes, room);
        nodes = NULL;
    }
    return nodes;
}

void sc_driver_nodes_free(CUgraphNode *nodes, size_t count)
{
    if (nodes)
        sc_pages_unmap(nodes, count * sizeof *nodes);
}
