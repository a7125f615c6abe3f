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

/* A page for the next small list, or NULL. It is kept, since to map a page takes longer than to ask
 * the driver. */
static _Atomic(void *) spare_page;

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

/* Frees a list of nodes. One small page is kept for the next list. */
void sc_driver_nodes_free(CUgraphNode *nodes, size_t count)
{
    size_t size_bytes = count * sizeof *nodes;
    void *none = NULL;
    bool kept = nodes && size_bytes <= SMALL_BYTES &&
                atomic_compare_exchange_strong(&spare_page, &none, (void *)nodes);
    if (nodes && !kept)
        sc_pages_unmap(nodes, size_bytes);
}

/* Asks the driver for the nodes directly before or after a node, by the newest function that it
 * has. */
bool sc_driver_nodes_ask_next_to(CUgraphNode node, enum sc_way way, CUgraphNode *room,
                                 size_t *count)
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

size_t sc_driver_nodes_next_to(CUgraphNode node, enum sc_way way, CUgraphNode *room, size_t count)
{
    return sc_driver_nodes_ask_next_to(node, way, room, &count) ? count : 0;
}
