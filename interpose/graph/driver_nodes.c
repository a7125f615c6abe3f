#include "interpose/graph/driver_nodes.h"

#include <stdatomic.h>

#include "common/own_pages.h"
#include "interpose/driver/driver.h"

#include "common/poison.h"

bool sc_driver_nodes_can_be_asked(void)
{
    return sc_real.cuGraphGetNodes && sc_real.cuGraphNodeGetType &&
           sc_real.cuGraphMemcpyNodeGetParams && sc_real.cuGraphMemsetNodeGetParams &&
           sc_real.cuGraphChildGraphNodeGetGraph;
}

enum { SMALL_BYTES = 4096 };

/* A page for the next small list; NULL: it is in use, or there was none yet. */
static _Atomic(void *) spare_page;

/* Returns room for a list of nodes: the spare page if the list is small and the page is free, else
 * new pages. NULL: no memory. Nearly all graphs are small, and to map a page takes longer than to
 * ask the driver. */
static CUgraphNode *take_list(size_t size_bytes)
{
    void *kept = size_bytes <= SMALL_BYTES ? atomic_exchange(&spare_page, NULL) : NULL;
    return kept ? kept : sc_pages_map(size_bytes);
}

bool sc_driver_nodes_any(CUgraph graph)
{
    size_t count = 0;
    return graph && sc_real.cuGraphGetNodes &&
           sc_real.cuGraphGetNodes(graph, NULL, &count) == CUDA_SUCCESS && count;
}

/* Asks the driver how many nodes the graph has, and then for the list. Returns NULL, and a count of
 * 0, for a graph without nodes. The same where the driver refuses, there is no memory, or the graph
 * has grown between the two calls, which CUDA forbids the program. */
CUgraphNode *sc_driver_nodes_of(CUgraph graph, size_t *count)
{
    size_t room = 0;
    CUgraphNode *nodes = NULL;
    if (sc_real.cuGraphGetNodes(graph, NULL, &room) == CUDA_SUCCESS && room)
        nodes = take_list(room * sizeof *nodes);
    *count = nodes ? room : 0;
    if (nodes && (sc_real.cuGraphGetNodes(graph, nodes, count) != CUDA_SUCCESS || *count > room)) {
        sc_driver_nodes_free(nodes, room);
        *count = 0;
        nodes = NULL;
    }
    return nodes;
}

/* Frees a list from sc_driver_nodes_of. One small page is kept for the next list, unless there is
 * one already. */
void sc_driver_nodes_free(CUgraphNode *nodes, size_t count)
{
    size_t size_bytes = count * sizeof *nodes;
    void *none = NULL;
    bool kept = nodes && size_bytes <= SMALL_BYTES &&
                atomic_compare_exchange_strong(&spare_page, &none, (void *)nodes);
    if (nodes && !kept)
        sc_pages_unmap(nodes, size_bytes);
}

/* Asks the driver for the nodes from which an edge leads to this one (SC_WAY_BEFORE), or to which
 * one leads from here. The newer functions are preferred, where the driver has them. Without room
 * for the edges' data these refuse if an edge has such data; then the list is unknown, and false is
 * returned. */
bool sc_driver_nodes_next_to(CUgraphNode node, enum sc_way way, CUgraphNode *room, size_t *count)
{
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    __typeof__(sc_real.cuGraphNodeGetDependencies_v2) with_edges =
        way == SC_WAY_BEFORE ? sc_real.cuGraphNodeGetDependencies_v2
                             : sc_real.cuGraphNodeGetDependentNodes_v2;
    __typeof__(sc_real.cuGraphNodeGetDependencies) plain =
        way == SC_WAY_BEFORE ? sc_real.cuGraphNodeGetDependencies
                             : sc_real.cuGraphNodeGetDependentNodes;
    if (with_edges)
        result = with_edges(node, room, NULL, count);
    else if (plain)
        result = plain(node, room, count);
    return result == CUDA_SUCCESS;
}
