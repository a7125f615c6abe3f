#include "interpose/graph/conditional_bodies.h"

#include <pthread.h>

#include "common/arena.h"
#include "common/checks.h"
#include "common/handles.h"
#include "common/mutex.h"
#include "interpose/base/process.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/graph/node_walk.h"
#include "interpose/reaper/reaper.h"
#include "track/graph_frees.h"
#include "track/track.h"

#include "common/poison.h"

enum { NO_BODY = UINT32_MAX, CHOSEN = UINT32_MAX - 1 };

/* One graph that a conditional node may run. */
struct body {
    CUgraph graph;
    uint32_t detached; /* the tracker's id of the graph while the driver destroys it; else 0 */
};

/* The bodies of one conditional node: the graphs that it may run. */
struct sc_conditional_bodies {
    CUgraphNode node;
    struct sc_conditional_bodies *next; /* of those taken together, before the driver's call */
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

/* Removes the node's bodies (the graphs that it may run) from the map, because the node is about to
 * go or has a new record. The caller owns what is returned; NULL: none are known. */
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

/* Frees the record of a node's bodies, and not the graphs, which are the driver's. Does nothing for
 * NULL. */
static void free_bodies_locked(struct sc_conditional_bodies *bodies) SC_REQUIRES(bodies_lock)
{
    SC_ASSERT_HELD(&bodies_lock);
    if (bodies)
        sc_arena_free(&memory, bodies, bytes_of(bodies->count));
}

/* Enters the record under its node, and owns it from now on. An older record under the same handle
 * is of a node that was destroyed without a wrapper's notice, and is dropped. Without memory the
 * record is freed, and the node's bodies stay unknown. */
static void enter_bodies_locked(struct sc_conditional_bodies *bodies) SC_REQUIRES(bodies_lock)
{
    SC_ASSERT_HELD(&bodies_lock);
    free_bodies_locked(remove_locked(bodies->node));
    if (sc_handles_put(&by_node, (uintptr_t)bodies->node, (uintptr_t)bodies) == 0)
        atomic_fetch_add(&node_count, 1);
    else
        free_bodies_locked(bodies);
}

/* Makes the map at its first use, since few programs have a conditional node. Returns false if
 * there is no memory. */
static bool init_if_needed_locked(struct sc_handles *map) SC_REQUIRES(bodies_lock)
{
    SC_ASSERT_HELD(&bodies_lock);
    return atomic_load_explicit(&map->table, memory_order_relaxed) || sc_handles_init(map) == 0;
}

static bool init_values_locked(void) SC_REQUIRES(bodies_lock)
{
    SC_ASSERT_HELD(&bodies_lock);
    return init_if_needed_locked(&values) && init_if_needed_locked(&owners);
}

/* Called when the program has made a handle for a condition: keeps the condition's first value, and
 * the graph, until a node is added with the handle. The driver may give a destroyed graph's handle
 * again, so what was known of the handle is dropped. Without a first value (`has_value` false)
 * nothing is kept: then no body is certain to run. */
void sc_conditional_bodies_note_handle(CUgraph graph, CUgraphConditionalHandle handle,
                                       bool has_value, unsigned value)
{
    SC_LOCKED(&bodies_lock);
    if (handle && init_values_locked()) {
        sc_handles_remove(&values, (uintptr_t)handle);
        sc_handles_remove(&owners, (uintptr_t)handle);
        if (has_value &&
            sc_handles_put(&owners, (uintptr_t)handle, (uint64_t)(uintptr_t)graph) == 0)
            sc_handles_put(&values, (uintptr_t)handle, (uint64_t)value + 1);
    }
}

/* Returns the first value of the condition's handle plus 1, and forgets the value, since a handle
 * serves one node. Returns 0 if the value is not known. A handle that was made for another graph
 * counts as unknown: that graph is gone. */
static uint64_t take_value_locked(CUgraph graph, CUgraphConditionalHandle handle)
    SC_REQUIRES(bodies_lock)
{
    SC_ASSERT_HELD(&bodies_lock);
    if (!handle || !init_values_locked() ||
        sc_handles_get(&owners, (uintptr_t)handle) != (uint64_t)(uintptr_t)graph)
        return 0;
    sc_handles_remove(&owners, (uintptr_t)handle);
    return sc_handles_remove(&values, (uintptr_t)handle);
}

/* Returns the index of the body that a launch runs if no kernel has changed the condition; NO_BODY:
 * none, or the first value is not known. Forgets that value, since a handle serves one node. A loop
 * has one body. Of a node of type IF, body 0 is for true, and body 1 for false. */
static uint32_t take_chosen_locked(CUgraph graph, const CUDA_CONDITIONAL_NODE_PARAMS *params)
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

/* Called when a conditional node was added: keeps the graphs that the driver has made for it
 * (phGraph_out), since the driver tells of them only then. Without memory they stay unknown. */
void sc_conditional_bodies_note(CUgraph graph, CUgraphNode node,
                                const CUDA_CONDITIONAL_NODE_PARAMS *params)
{
    uint32_t count = params->phGraph_out ? params->size : 0;
    if (!count)
        return;
    SC_LOCKED(&bodies_lock);
    struct sc_conditional_bodies *bodies =
        init_if_needed_locked(&by_node) ? sc_arena_alloc(&memory, bytes_of(count)) : NULL;
    if (!bodies)
        return;
    *bodies = (struct sc_conditional_bodies){
        .node = node, .count = count, .chosen = take_chosen_locked(graph, params)};
    for (uint32_t i = 0; i < count; i++)
        bodies->list[i] = (struct body){params->phGraph_out[i], 0};
    enter_bodies_locked(bodies);
}

/* Returns the node's body of this index, or with CHOSEN the one that the condition's first value
 * chooses; NULL: there is none, or it is not known. */
CUgraph sc_conditional_bodies_at(CUgraphNode node, uint32_t index)
{
    if (!sc_conditional_bodies_exist())
        return NULL;
    SC_LOCKED(&bodies_lock);
    const struct sc_conditional_bodies *bodies = find_locked(node);
    if (bodies && index == CHOSEN)
        index = bodies->chosen;
    return bodies && index < bodies->count ? bodies->list[index].graph : NULL;
}

/* The index was found when the node was added, by the condition's first value. */
CUgraph sc_conditional_bodies_chosen(CUgraphNode node)
{
    return sc_conditional_bodies_at(node, CHOSEN);
}

/* ---- the end ---- */

static struct sc_conditional_bodies *take_bodies_of(CUgraphNode node)
{
    SC_LOCKED(&bodies_lock);
    return remove_locked(node);
}

/* The walk's function for a graph or node that the driver is about to destroy: puts the bodies of
 * one conditional node on the list `*taken`. Detaches them in the tracker from their handles, since
 * the driver may give these to new graphs before its call returns. The walk calls this when it
 * leaves a node, so that it has found what is within by then. */
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

/* Is there anything to take when a graph or node is destroyed? Not if no bodies are known, the
 * library is not active, or the driver lacks the functions that list nodes. */
static bool can_take(void)
{
    return sc_conditional_bodies_exist() && sc_active() && sc_driver_nodes_can_be_asked();
}

/* Called before the driver destroys the graph, with all conditional nodes in it. Takes their bodies
 * out of the tables, for sc_conditional_bodies_end. Returns NULL if there are none. */
struct sc_conditional_bodies *sc_conditional_bodies_take_of_graph(CUgraph graph)
{
    struct sc_conditional_bodies *taken = NULL;
    if (can_take())
        sc_node_walk_graph(&take_bodies, &taken, graph, NULL);
    return taken;
}

/* Called before the driver destroys the node. Takes the bodies of it, and of nodes within it, out
 * of the tables, for sc_conditional_bodies_end. Returns NULL if there are none. */
struct sc_conditional_bodies *sc_conditional_bodies_take_of_node(CUgraphNode node)
{
    struct sc_conditional_bodies *taken = NULL;
    if (can_take())
        sc_node_walk_node(&take_bodies, &taken, node);
    return taken;
}

/* Called when the driver's call that destroys a graph or node has returned. If the driver has
 * refused, enters the taken bodies again, and attaches the tracker's records to their handles. Else
 * forgets what they used. A body without an id in `detached` used nothing. */
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
