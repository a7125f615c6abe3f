#include "interpose/graph/unjudged.h"

#include "interpose/driver/driver.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/graph/memory_ops.h"
#include "interpose/graph/node_walk.h"
#include "interpose/graph/reached.h"

#include "common/poison.h"

/* Asks the driver whether a batch memory operation node writes values or waits for them; both, if
 * the driver does not tell. The graph's node answers for the exec's: a program cannot change the
 * kinds of operations in an exec. */
static struct sc_memory_ops ops_of_node(CUgraphNode node)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS params;
    if (!sc_real.cuGraphBatchMemOpNodeGetParams ||
        sc_real.cuGraphBatchMemOpNodeGetParams(node, &params) != CUDA_SUCCESS)
        return (struct sc_memory_ops){true, true};
    return sc_memory_ops_of(params.paramArray, params.count);
}

/* ---- nodes ---- */

/* May the host learn by this node that the nodes before it are done, unseen by the library? Then
 * nobody knows whether a later use of their memory is too early. */
bool sc_unjudged_is_signal(CUgraphNode node, CUgraphNodeType type)
{
    if (type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        return ops_of_node(node).writes;
    return type == CU_GRAPH_NODE_TYPE_HOST || type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ||
           type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
}

/* May this node wait for something that the host does? Then the host may rightly write the source
 * of a node behind it until then. */
bool sc_unjudged_awaits_host(CUgraphNode node, CUgraphNodeType type)
{
    if (type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        return ops_of_node(node).waits;
    return type == CU_GRAPH_NODE_TYPE_HOST || type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT ||
           type == CU_GRAPH_NODE_TYPE_WAIT_EVENT;
}

/* Does the node wait for a value or a semaphore, which anybody may write? Host nodes and waits for
 * events do not count: the library sees those in other ways. */
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

/* What sc_unjudged_find is asked for, while it follows the edges. */
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

/* Follows the edges from each node that tells the host something, or waits for it, and calls
 * `unjudge` for what is before or behind it, by `why`. A node that tells the host in a way that the
 * library sees (`is_seen`) makes no node unjudged. Returns false if nodes may be missing. */
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

/* May a node of this type hide the order of others with the host? Child graphs may have such nodes.
 * Only in graphs with one is the driver asked for the edges. */
bool sc_unjudged_may_matter(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_HOST || type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ||
           type == CU_GRAPH_NODE_TYPE_WAIT_EVENT || type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL ||
           type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT || type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP ||
           type == CU_GRAPH_NODE_TYPE_GRAPH;
}
