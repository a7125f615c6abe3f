#include "interpose/graph/conditional_bodies.h"

#include <pthread.h>

#include "interpose/base/process.h"
#include "interpose/driver/driver.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/graph/node_walk.h"
#include "track/handles.h"
#include "track/pool.h"
#include "track/track.h"

#include "track/poison.h"

struct body {
    CUgraph graph;
    uint32_t known; /* the tracker's id while the body is taken, or 0 */
};

struct sc_conditional_bodies {
    CUgraphNode node;
    struct sc_conditional_bodies *next; /* taken with it */
    uint32_t count;
    struct body list[];
};

static pthread_mutex_t bodies_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_arena memory;
static struct sc_handles by_node; /* -> struct sc_conditional_bodies */
static _Atomic uint32_t node_count;

bool sc_conditional_bodies_exist(void)
{
    return atomic_load_explicit(&node_count, memory_order_acquire) != 0;
}

static size_t bytes_of(uint32_t count)
{
    return sizeof(struct sc_conditional_bodies) + count * sizeof(struct body);
}

static struct sc_conditional_bodies *find_locked(CUgraphNode node)
{
    return (struct sc_conditional_bodies *)(uintptr_t)sc_handles_get(&by_node, (uintptr_t)node);
}

static struct sc_conditional_bodies *remove_locked(CUgraphNode node)
{
    struct sc_conditional_bodies *bodies =
        (struct sc_conditional_bodies *)(uintptr_t)sc_handles_remove(&by_node, (uintptr_t)node);
    if (bodies)
        atomic_fetch_sub(&node_count, 1);
    return bodies;
}

static void give_locked(struct sc_conditional_bodies *bodies)
{
    if (bodies)
        sc_arena_give(&memory, bodies, bytes_of(bodies->count));
}

/* The same node was known before only if it was destroyed past us. */
static void put_locked(struct sc_conditional_bodies *bodies)
{
    give_locked(remove_locked(bodies->node));
    if (sc_handles_put(&by_node, (uintptr_t)bodies->node, (uintptr_t)bodies) == 0)
        atomic_fetch_add(&node_count, 1);
    else
        give_locked(bodies);
}

/* The map is made by the first node: few programs have any. */
static bool is_ready_locked(void)
{
    return atomic_load_explicit(&by_node.table, memory_order_relaxed) ||
           sc_handles_init(&by_node) == 0;
}

void sc_conditional_bodies_note(CUgraphNode node, const CUDA_CONDITIONAL_NODE_PARAMS *params)
{
    uint32_t count = params->phGraph_out ? params->size : 0;
    if (!count)
        return;
    pthread_mutex_lock(&bodies_lock);
    struct sc_conditional_bodies *bodies =
        is_ready_locked() ? sc_arena_take(&memory, bytes_of(count)) : NULL;
    if (bodies) {
        bodies->node = node;
        bodies->next = NULL;
        bodies->count = count;
        for (uint32_t i = 0; i < count; i++)
            bodies->list[i] = (struct body){params->phGraph_out[i], 0};
        put_locked(bodies);
    }
    pthread_mutex_unlock(&bodies_lock);
}

CUgraph sc_conditional_bodies_at(CUgraphNode node, uint32_t index)
{
    if (!sc_conditional_bodies_exist())
        return NULL;
    pthread_mutex_lock(&bodies_lock);
    const struct sc_conditional_bodies *bodies = find_locked(node);
    CUgraph graph = bodies && index < bodies->count ? bodies->list[index].graph : NULL;
    pthread_mutex_unlock(&bodies_lock);
    return graph;
}

/* ---- the end ---- */

/* Behind the node's bodies, so that what is inside of these is taken before. */
static void take_node(void *context, struct sc_walked_graph *in, CUgraphNode node,
                      CUgraphNodeType type)
{
    struct sc_conditional_bodies **taken = context;
    (void)in;
    if (type != CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return;
    pthread_mutex_lock(&bodies_lock);
    struct sc_conditional_bodies *bodies = remove_locked(node);
    pthread_mutex_unlock(&bodies_lock);
    if (!bodies)
        return;
    bodies->next = *taken;
    *taken = bodies;
    for (uint32_t i = 0; i < bodies->count; i++)
        bodies->list[i].known = sc_track_graph_detach(&sc_track, (uintptr_t)bodies->list[i].graph);
}

static const struct sc_node_walk take = {.leave = take_node};

static bool can_take(void)
{
    return sc_conditional_bodies_exist() && sc_active() && sc_driver_nodes_can_be_asked();
}

struct sc_conditional_bodies *sc_conditional_bodies_take_of_graph(CUgraph graph)
{
    struct sc_conditional_bodies *taken = NULL;
    if (can_take())
        sc_node_walk_graph(&take, &taken, graph, NULL);
    return taken;
}

struct sc_conditional_bodies *sc_conditional_bodies_take_of_node(CUgraphNode node)
{
    struct sc_conditional_bodies *taken = NULL;
    if (can_take())
        sc_node_walk_node(&take, &taken, node);
    return taken;
}

void sc_conditional_bodies_put_back(struct sc_conditional_bodies *taken)
{
    for (struct sc_conditional_bodies *next; taken; taken = next) {
        next = taken->next;
        for (uint32_t i = 0; i < taken->count; i++)
            if (taken->list[i].known)
                sc_track_graph_attach(&sc_track, taken->list[i].known);
        pthread_mutex_lock(&bodies_lock);
        put_locked(taken);
        pthread_mutex_unlock(&bodies_lock);
    }
}

bool sc_conditional_bodies_end(struct sc_conditional_bodies *taken)
{
    bool freed = false;
    for (struct sc_conditional_bodies *next; taken; taken = next) {
        next = taken->next;
        for (uint32_t i = 0; i < taken->count; i++)
            if (taken->list[i].known)
                freed |= sc_track_graph_remove(&sc_track, taken->list[i].known);
        pthread_mutex_lock(&bodies_lock);
        give_locked(taken);
        pthread_mutex_unlock(&bodies_lock);
    }
    return freed;
}
