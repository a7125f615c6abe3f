#include "interpose/graph/certain_bodies.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/handles.h"
#include "common/own_pages.h"
#include "interpose/graph/conditional_bodies.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/graph/node_walk.h"

#include "common/poison.h"

enum { NODES_MAX = 4096 }; /* in a larger graph no body is looked for */

/* The search for kernels that may run before a conditional node. */
struct search {
    const CUgraphNode *nodes;
    size_t count;
    CUgraphNode *queue, *found; /* each has room for all nodes */
    struct sc_handles behind;   /* the conditional node, and the nodes behind it */
};

/* Adds a node to the queue, unless it was met before. Returns false if there is no memory. */
static bool enqueue_node(struct search *search, CUgraphNode node, size_t *length)
{
    if (sc_handles_get(&search->behind, (uintptr_t)node))
        return true;
    search->queue[(*length)++] = node;
    return *length <= search->count && sc_handles_put(&search->behind, (uintptr_t)node, 1) == 0;
}

/* Finds all nodes to which edges lead from `node`, directly or not. Returns false if they cannot be
 * known. */
static bool find_nodes_behind(struct search *search, CUgraphNode node)
{
    size_t length = 0;
    bool known = enqueue_node(search, node, &length);
    for (size_t next = 0; known && next < length; next++) {
        size_t count = search->count;
        known = sc_driver_nodes_ask_next_to(search->queue[next], SC_WAY_BEHIND, search->found,
                                            &count) &&
                count <= search->count;
        for (size_t i = 0; known && i < count; i++)
            known = enqueue_node(search, search->found[i], &length);
    }
    return known;
}

/* Ends the walk over nodes at the first kernel. */
static enum sc_step stop_at_kernel(void *found, struct sc_walked_graph *in, CUgraphNode node,
                                   CUgraphNodeType type)
{
    (void)in;
    (void)node;
    *(bool *)found |= type == CU_GRAPH_NODE_TYPE_KERNEL;
    return *(bool *)found ? SC_STEP_STOP : SC_STEP_INTO;
}

/* Is there a kernel in the node? All bodies of conditional nodes count, since they may run. */
static bool has_kernel(CUgraphNode node)
{
    static const struct sc_node_walk walk = {.meet = stop_at_kernel};
    bool found = false;
    sc_node_walk_node(&walk, &found, node);
    return found;
}

/* Do all kernels of the graph come after the node? */
static bool is_ahead_of_kernels(struct search *search, CUgraphNode node)
{
    bool none = find_nodes_behind(search, node);
    for (size_t i = 0; none && i < search->count; i++)
        none = sc_handles_get(&search->behind, (uintptr_t)search->nodes[i]) ||
               !has_kernel(search->nodes[i]);
    return none;
}

/* Does the node come before all kernels of the graph, so that none can decide whether it runs? Maps
 * the memory for the search. */
static bool is_before_kernels(const CUgraphNode *nodes, size_t count, CUgraphNode node)
{
    struct search search = {.nodes = nodes, .count = count};
    size_t size_bytes = 2 * (count + 1) * sizeof *search.queue;
    bool certain = false;
    search.queue = sc_pages_map(size_bytes);
    if (!search.queue)
        return false;
    search.found = search.queue + count + 1;
    if (sc_handles_init(&search.behind) == 0) {
        certain = is_ahead_of_kernels(&search, node);
        sc_handles_destroy(&search.behind);
    }
    sc_pages_unmap(search.queue, size_bytes);
    return certain;
}

/* The body that the first value chooses is certain to run if no kernel can change the value before.
 */
CUgraph sc_certain_bodies_find(CUgraph graph, CUgraphNode node)
{
    size_t count = 0;
    CUgraph body = sc_conditional_bodies_chosen(node);
    CUgraphNode *nodes = body ? sc_driver_nodes_of(graph, &count) : NULL;
    bool certain = nodes && count <= NODES_MAX && is_before_kernels(nodes, count, node);
    sc_driver_nodes_free(nodes, count);
    return certain ? body : NULL;
}
