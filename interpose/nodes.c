#include "interpose/nodes.h"

#include "track/pool.h"

#include "track/poison.h"

bool sc_nodes_can_be_asked(void)
{
    return sc_real.cuGraphGetNodes && sc_real.cuGraphNodeGetType &&
           sc_real.cuGraphMemcpyNodeGetParams && sc_real.cuGraphMemsetNodeGetParams &&
           sc_real.cuGraphChildGraphNodeGetGraph;
}

/* Of that many nodes one is taken to do something. */
enum { LOOKED_AT_MAX = 16 };

bool sc_nodes_do_nothing(CUgraph graph)
{
    CUgraphNode nodes[LOOKED_AT_MAX];
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    size_t count = LOOKED_AT_MAX;
    if (sc_real.cuGraphGetNodes(graph, nodes, &count) != CUDA_SUCCESS || count == LOOKED_AT_MAX)
        return false;
    for (size_t i = 0; i < count && type == CU_GRAPH_NODE_TYPE_EMPTY; i++)
        if (sc_real.cuGraphNodeGetType(nodes[i], &type) != CUDA_SUCCESS)
            return false;
    return type == CU_GRAPH_NODE_TYPE_EMPTY;
}

CUgraphNode *sc_nodes_of(CUgraph graph, size_t *count)
{
    size_t room = 0;
    CUgraphNode *nodes = NULL;
    if (sc_real.cuGraphGetNodes(graph, NULL, &room) == CUDA_SUCCESS && room)
        nodes = sc_pages_map(room * sizeof *nodes);
    *count = room;
    if (nodes && (sc_real.cuGraphGetNodes(graph, nodes, count) != CUDA_SUCCESS || *count > room)) {
        sc_nodes_free(nodes, room);
        nodes = NULL;
    }
    return nodes;
}

void sc_nodes_free(CUgraphNode *nodes, size_t count)
{
    if (nodes)
        sc_pages_unmap(nodes, count * sizeof *nodes);
}
