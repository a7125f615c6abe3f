#include "interpose/graph/unjudged.h"

#include "interpose/driver/driver.h"
#include "interpose/graph/node_walk.h"
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

struct type_search {
    is_such *such;
    bool found;
};

static enum sc_step look_at_type(void *context, struct sc_walked_graph *in, CUgraphNode node,
                                 CUgraphNodeType type)
{
    struct type_search *search = context;
    (void)in;
    (void)node;
    search->found = search->such(type);
    if (search->found)
        return SC_STEP_STOP;
    return type == CU_GRAPH_NODE_TYPE_GRAPH ? SC_STEP_INTO : SC_STEP_OVER;
}

/* A child graph is such a node if one of its nodes is. */
static bool node_is(CUgraphNode node, is_such *such)
{
    static const struct sc_node_walk walk = {.meet = look_at_type};
    struct type_search search = {such, false};
    sc_node_walk_node(&walk, &search, node);
    return search.found;
}

enum way { BEFORE, BEHIND };

/* The nodes that have an edge to the node, or from it; not more than `count` are stored. */
static size_t neighbours(CUgraphNode node, enum way way, CUgraphNode *room, size_t count)
{
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    __typeof__(sc_real.cuGraphNodeGetDependencies_v2) with_edges =
        way == BEFORE ? sc_real.cuGraphNodeGetDependencies_v2
                      : sc_real.cuGraphNodeGetDependentNodes_v2;
    __typeof__(sc_real.cuGraphNodeGetDependencies) plain =
        way == BEFORE ? sc_real.cuGraphNodeGetDependencies : sc_real.cuGraphNodeGetDependentNodes;
    if (with_edges)
        result = with_edges(node, room, NULL, &count);
    else if (plain)
        result = plain(node, room, &count);
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
                         CUgraphNode *found, enum way way, struct sc_handles *visited)
{
    size_t left = 1;
    while (left) {
        CUgraphNode node = waiting[--left];
        size_t reached = neighbours(node, way, found, unjudging->count);
        for (size_t i = 0; i < reached && i < unjudging->count; i++) {
            if (sc_handles_get(visited, (uintptr_t)found[i]) ||
                sc_handles_put(visited, (uintptr_t)found[i], 1) != 0)
                continue;
            unjudging->unjudge(unjudging->context, found[i]);
            waiting[left++] = found[i];
        }
    }
}

static void unjudge_around(const struct unjudging *unjudging, is_such *such, enum way way)
{
    struct sc_handles visited;
    size_t count = unjudging->count;
    CUgraphNode *room = sc_pages_map(2 * count * sizeof *room);
    if (room && sc_handles_init(&visited) == 0) {
        for (size_t i = 0; i < count; i++)
            if (node_is(unjudging->nodes[i], such)) {
                room[0] = unjudging->nodes[i];
                unjudge_from(unjudging, room, room + count, way, &visited);
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
    unjudge_around(&unjudging, sc_unjudged_is_signal, BEFORE);
    unjudge_around(&unjudging, sc_unjudged_awaits_host, BEHIND);
}
