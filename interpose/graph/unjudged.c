#include "interpose/graph/unjudged.h"

#include "interpose/driver/driver.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/graph/memory_ops.h"
#include "interpose/graph/node_walk.h"
#include "interpose/graph/reached.h"

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

/* Does the node wait for a value or a semaphore? Host nodes and waits for events do not count here:
 * whether the library sees those is known in other ways. */
static bool awaits_unseen(CUgraphNode node, CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT ||
           (type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP && ops_of_node(node).waits);
}

static bool is_host(CUgraphNode node, CUgraphNodeType type)
{
    (void)node;
    return type == CU_GRAPH_NODE_TYPE_HOST;
}

/* The search for nodes that are not judged. */
struct search {
    enum sc_unjudged_why why;
    sc_unjudge *unjudge;
    void *context;
};

static void visit_node(void *context, CUgraphNode node)
{
    const struct search *search = context;
    search->unjudge(search->context, node, search->why);
}

/* A node that notifies the host in a way that the library sees makes no node unjudged. */
bool sc_unjudged_find(const CUgraphNode *nodes, size_t count, enum sc_unjudged_why why,
                      sc_is_seen *is_seen, sc_unjudge *unjudge, void *context)
{
    static sc_is_such *const such[] = {
        [SC_BEFORE_SIGNAL] = sc_unjudged_is_signal,
        [SC_BEHIND_WAIT] = sc_unjudged_awaits_host,
        [SC_BEHIND_HOST_NODE] = is_host,
        [SC_BEHIND_UNSEEN] = awaits_unseen,
    };
    struct search search = {why, unjudge, context};
    struct sc_reached reach;
    bool found_all = sc_reached_begin(&reach, count);
    if (!found_all)
        return false;
    for (size_t i = 0; i < count; i++)
        if (sc_node_walk_finds(nodes[i], such[why]) && !(is_seen && is_seen(context, nodes[i])))
            found_all &= sc_reached_from(&reach, nodes[i],
                                         why == SC_BEFORE_SIGNAL ? SC_WAY_BEFORE : SC_WAY_BEHIND,
                                         visit_node, &search);
    sc_reached_end(&reach);
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
