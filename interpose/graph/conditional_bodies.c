#include "interpose/graph/conditional_bodies.h"

#include <pthread.h>

#include "common/arena.h"
#include "common/checks.h"
#include "common/handles.h"
#include "interpose/base/process.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/graph/node_walk.h"
#include "interpose/reaper/reaper.h"
#include "track/graph_frees.h"
#include "track/track.h"

#include "common/poison.h"

enum { NO_BODY = UINT32_MAX, CHOSEN = UINT32_MAX - 1 };

/* One body of a node. */
struct body {
    CUgraph graph;
    uint32_t detached; /* the tracker's id of the body while the body is taken; else 0 */
};

/* All bodies of one conditional node. */
struct sc_conditional_bodies {
    CUgraphNode node;
    struct sc_conditional_bodies *next; /* the next of those that were taken together */
    uint32_t count;
    uint32_t chosen; /* the index of the body that a launch's first value chooses; NO_BODY: none, or
                        not known */
    struct body list[];
};

static pthread_mutex_t bodies_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_arena memory SC_GUARDED_BY(bodies_lock);
static struct sc_handles by_node; /* -> struct sc_conditional_bodies */
static struct sc_handles values;  /* handles that no node has yet, each with its first value + 1 */
static struct sc_handles owners;  /* the same handles, each with the graph that it was made for */
static _Atomic uint32_t node_count;

bool sc_conditional_bodies_exist(void)
{
    return atomic_load_explicit(&node_count, memory_order_acquire) != 0;
}

static size_t bytes_of(uint32_t count)
{
    return sizeof(struct sc_conditional_bodies) + count * sizeof(struct body);
}

static struct sc_conditional_bodies *find_locked(CUgraphNode node) SC_REQUIRES(bodies_lock)
{
    SC_ASSERT_HELD(&bodies_lock);
    return (struct sc_conditional_bodies *)(uintptr_t)sc_handles_get(&by_node, (uintptr_t)node);
}

/* Removes the node's bodies from the map, and returns them. Returns NULL if none are known. */
static struct sc_conditional_bodies *remove_locked(CUgraphNode node) SC_REQUIRES(bodies_lock)
{
    SC_ASSERT_HELD(&bodies_lock);
    struct sc_conditional_bodies *bodies =
        (struct sc_conditional_bodies *)(uintptr_t)sc_handles_remove(&by_node, (uintptr_t)node);
    SC_ASSERT(!bodies || (bodies->node == node && atomic_load(&node_count) != 0));
    if (bodies)
        atomic_fetch_sub(&node_count, 1);
    return bodies;
}

/* Frees the memory of the bodies; does nothing for NULL. */
static void free_bodies_locked(struct sc_conditional_bodies *bodies) SC_REQUIRES(bodies_lock)
{
    SC_ASSERT_HELD(&bodies_lock);
    if (bodies)
        sc_arena_free(&memory, bodies, bytes_of(bodies->count));
}

/* Enters the bodies under their node. If there are bodies of a node with the same handle, that node
 * was destroyed without a wrapper, and they are dropped. */
static void enter_bodies_locked(struct sc_conditional_bodies *bodies) SC_REQUIRES(bodies_lock)
{
    SC_ASSERT_HELD(&bodies_lock);
    free_bodies_locked(remove_locked(bodies->node));
    if (sc_handles_put(&by_node, (uintptr_t)bodies->node, (uintptr_t)bodies) == 0)
        atomic_fetch_add(&node_count, 1);
    else
        free_bodies_locked(bodies);
}

/* Makes the map when it is needed first: few programs have a conditional node. Returns false if
 * there is no memory. */
static bool is_ready_locked(struct sc_handles *map) SC_REQUIRES(bodies_lock)
{
    SC_ASSERT_HELD(&bodies_lock);
    return atomic_load_explicit(&map->table, memory_order_relaxed) || sc_handles_init(map) == 0;
}

static bool are_values_ready_locked(void) SC_REQUIRES(bodies_lock)
{
    SC_ASSERT_HELD(&bodies_lock);
    return is_ready_locked(&values) && is_ready_locked(&owners);
}

/* Notes the handle that the graph has for a condition. If several graphs have had the same handle,
 * some of which may be destroyed, the last one counts. */
void sc_conditional_bodies_note_handle(CUgraph graph, CUgraphConditionalHandle handle,
                                       bool has_value, unsigned value)
{
    SC_LOCKED(&bodies_lock);
    if (handle && are_values_ready_locked()) {
        sc_handles_remove(&values, (uintptr_t)handle);
        sc_handles_remove(&owners, (uintptr_t)handle);
        if (has_value &&
            sc_handles_put(&owners, (uintptr_t)handle, (uint64_t)(uintptr_t)graph) == 0)
            sc_handles_put(&values, (uintptr_t)handle, (uint64_t)value + 1);
    }
}

/* Takes the first value of the condition's handle, plus 1, since a handle serves one node. Returns
 * 0 if it is not known. */
static uint64_t take_value_locked(CUgraph graph, CUgraphConditionalHandle handle)
    SC_REQUIRES(bodies_lock)
{
    SC_ASSERT_HELD(&bodies_lock);
    if (!handle || !are_values_ready_locked() ||
        sc_handles_get(&owners, (uintptr_t)handle) != (uint64_t)(uintptr_t)graph)
        return 0;
    sc_handles_remove(&owners, (uintptr_t)handle);
    return sc_handles_remove(&values, (uintptr_t)handle);
}

/* Returns the index of the body that the first value chooses. A loop has one body, and runs it at
 * least once, or never. */
static uint32_t chosen_locked(CUgraph graph, const CUDA_CONDITIONAL_NODE_PARAMS *params)
    SC_REQUIRES(bodies_lock)
{
    SC_ASSERT_HELD(&bodies_lock);
    uint64_t known = take_value_locked(graph, params->handle);
    if (!known)
        return NO_BODY;
    uint32_t value = (uint32_t)(known - 1);
    if (params->type == CU_GRAPH_COND_TYPE_WHILE)
        return value ? 0 : NO_BODY;
    return params->type == CU_GRAPH_COND_TYPE_IF ? !value : value;
}

/* Keeps the graphs that a new conditional node has as bodies: the driver does not name them later.
 */
void sc_conditional_bodies_note(CUgraph graph, CUgraphNode node,
                                const CUDA_CONDITIONAL_NODE_PARAMS *params)
{
    uint32_t count = params->phGraph_out ? params->size : 0;
    if (!count)
        return;
    SC_LOCKED(&bodies_lock);
    struct sc_conditional_bodies *bodies =
        is_ready_locked(&by_node) ? sc_arena_alloc(&memory, bytes_of(count)) : NULL;
    if (!bodies)
        return;
    *bodies = (struct sc_conditional_bodies){
        .node = node, .count = count, .chosen = chosen_locked(graph, params)};
    for (uint32_t i = 0; i < count; i++)
        bodies->list[i] = (struct body){params->phGraph_out[i], 0};
    enter_bodies_locked(bodies);
}

/* Returns the node's body of this index, or the CHOSEN one; NULL: there is none. */
static CUgraph body_of(CUgraphNode node, uint32_t index)
{
    if (!sc_conditional_bodies_exist())
        return NULL;
    SC_LOCKED(&bodies_lock);
    const struct sc_conditional_bodies *bodies = find_locked(node);
    if (bodies && index == CHOSEN)
        index = bodies->chosen;
    return bodies && index < bodies->count ? bodies->list[index].graph : NULL;
}

CUgraph sc_conditional_bodies_at(CUgraphNode node, uint32_t index)
{
    return body_of(node, index);
}

/* Which body that is was found when the node was added. */
CUgraph sc_conditional_bodies_chosen(CUgraphNode node)
{
    return body_of(node, CHOSEN);
}

/* ---- the end ---- */

static struct sc_conditional_bodies *take_bodies_of(CUgraphNode node)
{
    SC_LOCKED(&bodies_lock);
    return remove_locked(node);
}

/* Takes the bodies of a node. The walk calls this after what is inside of the node, so the bodies
 * within them are taken already. */
static void take_node(void *context, struct sc_walked_graph *in, CUgraphNode node,
                      CUgraphNodeType type)
{
    struct sc_conditional_bodies **taken = context;
    (void)in;
    if (type != CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return;
    struct sc_conditional_bodies *bodies = take_bodies_of(node);
    if (!bodies)
        return;
    bodies->next = *taken;
    *taken = bodies;
    for (uint32_t i = 0; i < bodies->count; i++)
        bodies->list[i].detached =
            SC_TRACKED(sc_graphs_detach(track.graphs, (uintptr_t)bodies->list[i].graph));
}

static const struct sc_node_walk take_bodies = {.leave = take_node};

/* Are any bodies known, and can the driver be asked what is within a graph? Else there is nothing
 * to take. */
static bool can_take(void)
{
    return sc_conditional_bodies_exist() && sc_active() && sc_driver_nodes_can_be_asked();
}

/* Takes the bodies of all nodes of a graph that is about to be destroyed. Returns NULL if there are
 * none. */
struct sc_conditional_bodies *sc_conditional_bodies_take_of_graph(CUgraph graph)
{
    struct sc_conditional_bodies *taken = NULL;
    if (can_take())
        sc_node_walk_graph(&take_bodies, &taken, graph, NULL);
    return taken;
}

/* Records the bodies of one conditional node. */
struct sc_conditional_bodies *sc_conditional_bodies_take_of_node(CUgraphNode node)
{
    struct sc_conditional_bodies *taken = NULL;
    if (can_take())
        sc_node_walk_node(&take_bodies, &taken, node);
    return taken;
}

/* If the driver has refused, attaches the bodies again; else forgets what they did. */
void sc_conditional_bodies_end(struct sc_conditional_bodies *taken, bool destroyed)
{
    for (struct sc_conditional_bodies *next; taken; taken = next) {
        next = taken->next;
        for (uint32_t i = 0; i < taken->count; i++)
            if (taken->list[i].detached && !destroyed)
                SC_TRACKED(sc_graphs_attach(track.graphs, taken->list[i].detached));
            else if (taken->list[i].detached)
                sc_reaper_remove_graph(taken->list[i].detached);
        SC_LOCKED(&bodies_lock);
        (destroyed ? free_bodies_locked : enter_bodies_locked)(taken);
    }
}
