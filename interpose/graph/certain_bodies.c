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

enum { NODES_MAX = 4096 }; /* of a larger graph no body is certain */

struct looking {
    const CUgraphNode *nodes;
    size_t count;
    CUgraphNode *queue, *found; /* room for each node once */
    struct sc_handles behind;   /* the node, and what stands behind it */
};

static bool put(struct looking *looking, CUgraphNode node, size_t *length)
{
    if (sc_handles_get(&looking->behind, (uintptr_t)node))
        return true;
    looking->queue[(*length)++] = node;
    return *length <= looking->count && sc_handles_put(&looking->behind, (uintptr_t)node, 1) == 0;
}

/* False: it cannot be known. */
static bool find_behind(struct looking *looking, CUgraphNode node)
{
    size_t length = 0;
    bool known = put(looking, node, &length);
    for (size_t next = 0; known && next < length; next++) {
        size_t count = looking->count;
        known = sc_driver_nodes_ask_next_to(looking->queue[next], SC_WAY_BEHIND, looking->found,
                                            &count) &&
                count <= looking->count;
        for (size_t i = 0; known && i < count; i++)
            known = put(looking, looking->found[i], &length);
    }
    return known;
}

static enum sc_step look_for_kernel(void *found, struct sc_walked_graph *in, CUgraphNode node,
                                    CUgraphNodeType type)
{
    (void)in;
    (void)node;
    *(bool *)found |= type == CU_GRAPH_NODE_TYPE_KERNEL;
    return *(bool *)found ? SC_STEP_STOP : SC_STEP_INTO;
}

/* Bodies of other nodes count: they may run. */
static bool has_kernel(CUgraphNode node)
{
    static const struct sc_node_walk walk = {.meet = look_for_kernel};
    bool found = false;
    sc_node_walk_node(&walk, &found, node);
    return found;
}

static bool no_kernel_comes_first(struct looking *looking, CUgraphNode node)
{
    bool none = find_behind(looking, node);
    for (size_t i = 0; none && i < looking->count; i++)
        none = sc_handles_get(&looking->behind, (uintptr_t)looking->nodes[i]) ||
               !has_kernel(looking->nodes[i]);
    return none;
}

static bool look(const CUgraphNode *nodes, size_t count, CUgraphNode node)
{
    struct looking looking = {.nodes = nodes, .count = count};
    size_t size_bytes = 2 * (count + 1) * sizeof *looking.queue;
    bool certain = false;
    looking.queue = sc_pages_map(size_bytes);
    if (!looking.queue)
        return false;
    looking.found = looking.queue + count + 1;
    if (sc_handles_init(&looking.behind) == 0) {
        certain = no_kernel_comes_first(&looking, node);
        sc_handles_destroy(&looking.behind);
    }
    sc_pages_unmap(looking.queue, size_bytes);
    return certain;
}

CUgraph sc_certain_bodies_of(CUgraph graph, CUgraphNode node)
{
    size_t count = 0;
    CUgraph body = sc_conditional_bodies_chosen(node);
    CUgraphNode *nodes = body ? sc_driver_nodes_of(graph, &count) : NULL;
    bool certain = nodes && count <= NODES_MAX && look(nodes, count, node);
    sc_driver_nodes_free(nodes, count);
    return certain ? body : NULL;
}
