#include "interpose/graph/unjudged.h"

#include "common/handles.h"
#include "common/own_pages.h"
#include "interpose/driver/driver.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/graph/memory_ops.h"
#include "interpose/graph/node_walk.h"

#include "common/poison.h"

/* Returns what a batch memory operation does; everything, if the driver does not tell. The exec's
 * node does the same as the graph's, since the kinds of operations cannot be changed in an exec. */
static struct sc_memory_ops ops_of_node(CUgraphNode node)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS params;
    if (!sc_real.cuGraphBatchMemOpNodeGetParams ||
        sc_real.cuGraphBatchMemOpNodeGetParams(node, &params) != CUDA_SUCCESS)
        return (struct sc_memory_ops){true, true};
    return sc_memory_ops_of(params.paramArray, params.count);
}

/* ---- nodes ---- */

/* May the host learn by this node that what stands before it is done? */
bool sc_unjudged_is_signal(CUgraphNode node, CUgraphNodeType type)
{
    if (type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        return ops_of_node(node).writes;
    return type == CU_GRAPH_NODE_TYPE_HOST || type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ||
           type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
}

/* May this node wait for something that the host does? */
bool sc_unjudged_awaits_host(CUgraphNode node, CUgraphNodeType type)
{
    if (type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        return ops_of_node(node).waits;
    return type == CU_GRAPH_NODE_TYPE_HOST || type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT ||
           type == CU_GRAPH_NODE_TYPE_WAIT_EVENT;
}

bool sc_unjudged_awaits_unseen(CUgraphNode node, CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT ||
           (type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP && ops_of_node(node).waits);
}

/* The search for nodes that are not judged. */
struct search {
    const CUgraphNode *nodes;
    size_t count;
    sc_is_seen *is_seen;
    sc_unjudge *unjudge;
    void *context;
};

/* Calls `unjudge` for all nodes that are reached from waiting[0] along the edges. `waiting` has
 * room for each node once, `found` for all neighbours of a node. Returns false if the driver does
 * not tell some neighbours. */
static bool unjudge_from(const struct search *search, CUgraphNode *waiting, CUgraphNode *found,
                         enum sc_way way, enum sc_unjudged_why why, struct sc_handles *visited)
{
    size_t left = 1;
    bool found_all = true;
    while (left) {
        CUgraphNode node = waiting[--left];
        size_t reached = search->count;
        if (!sc_driver_nodes_ask_next_to(node, way, found, &reached)) {
            found_all = false;
            continue;
        }
        for (size_t i = 0; i < reached && i < search->count; i++) {
            if (sc_handles_get(visited, (uintptr_t)found[i]) ||
                sc_handles_put(visited, (uintptr_t)found[i], 1) != 0)
                continue;
            search->unjudge(search->context, found[i], why);
            waiting[left++] = found[i];
        }
    }
    return found_all;
}

static bool signal_is_seen(const struct search *search, CUgraphNode node)
{
    return search->is_seen && search->is_seen(search->context, node);
}

/* Calls `unjudge` for nodes before, or after, each node for which `is_such` returns true. A node
 * that notifies the host in a way that the library sees makes no node unjudged. Returns false if
 * not all were found. */
static bool unjudge_around(const struct search *search, sc_is_such *is_such,
                           enum sc_unjudged_why why)
{
    enum sc_way way = why == SC_BEFORE_SIGNAL ? SC_WAY_BEFORE : SC_WAY_BEHIND;
    struct sc_handles visited;
    size_t count = search->count;
    CUgraphNode *room = sc_pages_map(2 * count * sizeof *room);
    bool found_all = false;
    if (room && sc_handles_init(&visited) == 0) {
        found_all = true;
        for (size_t i = 0; i < count; i++)
            if (sc_node_walk_finds(search->nodes[i], is_such) &&
                (way == SC_WAY_BEHIND || !signal_is_seen(search, search->nodes[i]))) {
                room[0] = search->nodes[i];
                found_all &= unjudge_from(search, room, room + count, way, why, &visited);
            }
        sc_handles_destroy(&visited);
    }
    sc_pages_unmap(room, 2 * count * sizeof *room);
    return found_all;
}

/* May a node of this kind make the order of others unseen? Only then are the edges asked for. */
bool sc_unjudged_may_matter(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_HOST || type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ||
           type == CU_GRAPH_NODE_TYPE_WAIT_EVENT || type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL ||
           type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT || type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP ||
           type == CU_GRAPH_NODE_TYPE_GRAPH;
}

/* Calls `unjudge` for each node whose order with the host cannot be seen: those before a signal,
 * and those after a wait. */
bool sc_unjudged_each(const CUgraphNode *nodes, size_t count, sc_is_seen *is_seen,
                      sc_unjudge *unjudge, void *context)
{
    const struct search search = {nodes, count, is_seen, unjudge, context};
    bool found_all = unjudge_around(&search, sc_unjudged_is_signal, SC_BEFORE_SIGNAL);
    return unjudge_around(&search, sc_unjudged_awaits_host, SC_BEHIND_WAIT) && found_all;
}

static bool is_host(CUgraphNode node, CUgraphNodeType type)
{
    (void)node;
    return type == CU_GRAPH_NODE_TYPE_HOST;
}

bool sc_unjudged_behind_hosts(const CUgraphNode *nodes, size_t count, sc_unjudge *unjudge,
                              void *context)
{
    const struct search search = {nodes, count, NULL, unjudge, context};
    return unjudge_around(&search, is_host, SC_BEHIND_HOST_NODE);
}

bool sc_unjudged_behind_unseen(const CUgraphNode *nodes, size_t count, sc_unjudge *unjudge,
                               void *context)
{
    const struct search search = {nodes, count, NULL, unjudge, context};
    return unjudge_around(&search, sc_unjudged_awaits_unseen, SC_BEHIND_UNSEEN);
}
