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

CUgraphNode *sc_driver_nodes_of(CUgraph graph, size_t *count)
{
    size_t room = 0;
    CUgraphNode *nodes = NULL;
    if (sc_real.cuGraphGetNodes(graph, NULL, &room) == CUDA_SUCCESS && room)
        nodes = sc_pages_map(room * sizeof *nodes);
    *count = nodes ? room : 0;
    if (nodes && (sc_real.cuGraphGetNodes(graph, nodes, count) != CUDA_SUCCESS || *count > room)) {
        sc_driver_nodes_free(nodes, room);
        *count = 0;
        nodes = NULL;
    }
    return nodes;
}

void sc_driver_nodes_free(CUgraphNode *nodes, size_t count)
{
    if (nodes)
        sc_pages_unmap(nodes, count * sizeof *nodes);
}
