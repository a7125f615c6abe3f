#include "interpose/graph/unjudged.h"

#include "interpose/driver/driver.h"
#include "interpose/graph/driver_nodes.h"
#include "track/handles.h"
#include "track/pool.h"

#include "track/poison.h"

bool sc_unjudged_is_signal(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_HOST || type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ||
           type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL || type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
}

bool sc_unjudged_awaits_host(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_HOST || type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT ||
           type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP || type == CU_GRAPH_NODE_TYPE_WAIT_EVENT;
}

typedef bool is_such(CUgraphNodeType type);

/* A child graph is such a node if one of its nodes is. */
static bool node_is(CUgraphNode node, is_such *such, int depth)
{
    CUgraphNodeType type;
    CUgraph child;
    size_t count = 0;
    bool found = false;
    if (sc_real.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
        return false;
    if (type != CU_GRAPH_NODE_TYPE_GRAPH)
        return such(type);
    if (depth > SC_NODES_DEPTH_MAX ||
        sc_real.cuGraphChildGraphNodeGetGraph(node, &child) != CUDA_SUCCESS)
        return false;
    CUgraphNode *nodes = sc_driver_nodes_of(child, &count);
    for (size_t i = 0; nodes && i < count && !found; i++)
        found = node_is(nodes[i], such, depth + 1);
    sc_driver_nodes_free(nodes, count);
    return found;
}

typedef size_t neighbours(CUgraphNode node, CUgraphNode *room, size_t count);

static size_t nodes_before(CUgraphNode node, CUgraphNode *room, size_t count)
{
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if (sc_real.cuGraphNodeGetDependencies_v2)
        result = sc_real.cuGraphNodeGetDependencies_v2(node, room, NULL, &count);
    else if (sc_real.cuGraphNodeGetDependencies)
        result = sc_real.cuGraphNodeGetDependencies(node, room, &count);
    return result == CUDA_SUCCESS ? count : 0;
}

static size_t nodes_behind(CUgraphNode node, CUgraphNode *room, size_t count)
{
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if (sc_real.cuGraphNodeGetDependentNodes_v2)
        result = sc_real.cuGraphNodeGetDependentNodes_v2(node, room, NULL, &count);
    else if (sc_real.cuGraphNodeGetDependentNodes)
        result = sc_real.cuGraphNodeGetDependentNodes(node, room, &count);
    return result == CUDA_SUCCESS ? count : 0;
}

struct unjudging {
    const CUgraphNode *nodes;
    size_t count;
    sc_unjudge *unjudge;
    void *context;
};

/* `waiting` has room for each node once, and `found` for the neighbours of one. */
static void unjudge_from(const struct unjudging *unjudging, CUgraphNode *waiting,
                         CUgraphNode *found, neighbours *next, struct sc_handles *visited)
{
    size_t left = 1;
    while (left) {
        CUgraphNode node = waiting[--left];
        size_t reached = next(node, found, unjudging->count);
        for (size_t i = 0; i < reached && i < unjudging->count; i++) {
            if (sc_handles_get(visited, (uintptr_t)found[i]) ||
                sc_handles_put(visited, (uintptr_t)found[i], 1) != 0)
                continue;
            unjudging->unjudge(unjudging->context, found[i]);
            waiting[left++] = found[i];
        }
    }
}

static void unjudge_around(const struct unjudging *unjudging, is_such *such, neighbours *next)
{
    struct sc_handles visited;
    size_t count = unjudging->count;
    CUgraphNode *room = sc_pages_map(2 * count * sizeof *room);
    if (room && sc_handles_init(&visited) == 0) {
        for (size_t i = 0; i < count; i++)
            if (node_is(unjudging->nodes[i], such, 0)) {
                room[0] = unjudging->nodes[i];
                unjudge_from(unjudging, room, room + count, next, &visited);
            }
        sc_handles_destroy(&visited);
    }
    if (room)
        sc_pages_unmap(room, 2 * count * sizeof *room);
}

bool sc_unjudged_may_matter(CUgraphNodeType type)
{
    return sc_unjudged_is_signal(type) || sc_unjudged_awaits_host(type) ||
           type == CU_GRAPH_NODE_TYPE_GRAPH;
}

void sc_unjudged_each(const CUgraphNode *nodes, size_t count, sc_unjudge *unjudge, void *context)
{
    const struct unjudging unjudging = {nodes, count, unjudge, context};
    unjudge_around(&unjudging, sc_unjudged_is_signal, nodes_before);
    unjudge_around(&unjudging, sc_unjudged_awaits_host, nodes_behind);
}
