#include "track/watched_nodes.h"

#include <stddef.h>

#include "common/checks.h"
#include "track/order.h"
#include "track/order_calls.h"

#include "common/poison.h"

/* ---- nodes ---- */

/* An exec was destroyed or has other host nodes now (`is_left`): frees its record of them with its
 * last node and its last launch. */
static void free_if_abandoned(struct sc_order *order, struct sc_watched_nodes *watched)
{
    if (watched->is_left && !watched->nodes && !watched->oldest)
        sc_arena_free(&order->arena, watched, sizeof *watched);
}

/* Frees the record of a host node. No launch will hand it to the library's function any more. */
static void free_node(struct sc_order *order, struct sc_watched_node *node)
{
    struct sc_watched_node **link = &node->of->nodes;
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    sc_arena_free(&order->arena, node, sizeof *node);
}

/* Will later launches run the node with this record? One that was dropped has the number of the
 * last launch with it. */
static bool is_in_future_launches(const struct sc_watched_node *node)
{
    return node->last == UINT64_MAX;
}

/* Launches to come do not have the node with this record. The driver goes on to use the record for
 * launches that were made with it, so it is freed after the last of them has run the node. */
static void retire_node(struct sc_order *order, struct sc_watched_node *node)
{
    node->last = node->of->launches;
    node->of->count--;
    if (node->ran >= node->last)
        free_node(order, node);
}

/* Makes the record of an exec's host nodes; NULL: no memory. */
static struct sc_watched_nodes *make_watched(struct sc_order *order)
{
    struct sc_watched_nodes *watched = sc_arena_alloc(&order->arena, sizeof *watched);
    if (watched)
        *watched = (struct sc_watched_nodes){0};
    return watched;
}

/* A host node is about to get the library's function: makes the record that the driver hands to it.
 * Launches from the next one on have it. */
struct sc_watched_node *sc_watched_nodes_add(struct sc_order *order,
                                             struct sc_watched_nodes **watched, uintptr_t node,
                                             void (*function)(void *), void *data)
{
    SC_ASSERT_GUARDED(&order->streams);
    if (!*watched)
        *watched = make_watched(order);
    struct sc_watched_nodes *of = *watched;
    struct sc_watched_node *added = of ? sc_arena_alloc(&order->arena, sizeof *added) : NULL;
    if (!added)
        return NULL;
    *added = (struct sc_watched_node){
        .function = function,
        .data = data,
        .of = of,
        .next = of->nodes,
        .node = node,
        .first = of->launches + 1,
        .last = UINT64_MAX,
        .ran = of->launches,
    };
    of->nodes = added;
    of->count++;
    return added;
}

/* The driver has refused the node's record: no launch has it. */
void sc_watched_nodes_drop(struct sc_order *order, struct sc_watched_node *node)
{
    SC_ASSERT_GUARDED(&order->streams);
    retire_node(order, node);
}

/* Returns the record with which the next launch runs the node. Older records of the node are still
 * for launches under way. */
struct sc_watched_node *sc_watched_nodes_find(const struct sc_watched_nodes *watched,
                                              uintptr_t node)
{
    struct sc_watched_node *found = watched ? watched->nodes : NULL;
    while (found && (found->node != node || !is_in_future_launches(found)))
        found = found->next;
    return found;
}

/* The driver has accepted a new record for the node: the former one, further down the list, is in
 * no later launch. What the node tells the host of stays. */
void sc_watched_nodes_replace(struct sc_order *order, struct sc_watched_node *node)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_watched_node *former = node->next;
    while (former && (former->node != node->node || !is_in_future_launches(former)))
        former = former->next;
    if (!former)
        return;
    node->tells = former->tells;
    retire_node(order, former);
}

/* The exec is destroyed, or its nodes are listed anew. Launches may still run its host nodes, so
 * records are freed after their last run. */
void sc_watched_nodes_abandon(struct sc_order *order, struct sc_watched_nodes **watched)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_watched_nodes *left = *watched;
    *watched = NULL;
    if (!left)
        return;
    left->is_left = true;
    for (struct sc_watched_node *next, *node = left->nodes; node; node = next) {
        next = node->next;
        if (is_in_future_launches(node))
            retire_node(order, node);
    }
    free_if_abandoned(order, left);
}

/* ---- launches ---- */

/* Returns the launch with this number; NULL: it was given up, or all its nodes have run. */
static struct sc_watched_launch *find_launch(const struct sc_watched_nodes *watched,
                                             uint64_t number)
{
    struct sc_watched_launch *launch = watched->oldest;
    while (launch && launch->number < number)
        launch = launch->next;
    return launch && launch->number == number ? launch : NULL;
}

/* Ends the record of a launch: all of its host nodes have run, or it is followed no more. */
static void free_launch(struct sc_order *order, struct sc_watched_launch *launch)
{
    struct sc_watched_nodes *watched = launch->of;
    struct sc_watched_launch *before = NULL;
    struct sc_watched_launch **link = &watched->oldest;
    while (*link != launch) {
        before = *link;
        link = &before->next;
    }
    *link = launch->next;
    if (watched->latest == launch)
        watched->latest = before;
    watched->waiting--;
    sc_order_release_point(order, &launch->before);
    sc_arena_free(&order->arena, launch, sizeof *launch);
}

/* Returns what the host knows when host nodes up to this stage (the work of whose end one node
 * tells the host) have run: the launch's operations of these stages, or, as long as they are not
 * recorded, what came before the launch. */
static struct sc_point point_after(const struct sc_watched_launch *launch, unsigned stage)
{
    struct sc_point point = sc_order_copy_point(&launch->before);
    uint64_t end = launch->is_known ? sc_stages_end(&launch->stages, stage) : 0;
    if (end)
        point.number = end;
    return point;
}

/* Too many launches wait for their host nodes: gives up the oldest. The host may learn of its end
 * unseen from then on. One whose operations are not recorded yet stays, as its call is under way.
 * Returns its place in the caller's list (`open`), 0: none was given up. */
static unsigned give_up_oldest(struct sc_order *order, struct sc_watched_nodes *watched)
{
    struct sc_watched_launch *oldest = watched->oldest;
    if (watched->waiting < SC_WATCHED_WAITING_MAX || !oldest->is_known)
        return 0;
    unsigned place = oldest->call.open;
    struct sc_point point = point_after(oldest, SC_STAGES_MAX);
    sc_order_note_past_signal(order, &point);
    sc_order_release_point(order, &point);
    free_launch(order, oldest);
    return place;
}

/* Begins to follow a launch until its host nodes have run, by which the host learns of work that is
 * done. NULL: it has none, or runs cannot be matched with launches any more (`is_lost`), as for
 * want of memory here. */
struct sc_watched_launch *sc_watched_nodes_begin_launch(struct sc_order *order,
                                                        struct sc_watched_nodes *watched,
                                                        const struct sc_point *before,
                                                        const struct sc_watched_call *call,
                                                        unsigned *given_up)
{
    SC_ASSERT_GUARDED(&order->streams);
    *given_up = 0;
    if (!watched->count || watched->is_lost)
        return NULL;
    struct sc_watched_launch *launch = sc_arena_alloc(&order->arena, sizeof *launch);
    watched->is_lost = !launch;
    if (!launch)
        return NULL;
    *given_up = give_up_oldest(order, watched);
    launch->next = NULL;
    launch->of = watched;
    launch->call = *call;
    launch->number = ++watched->launches;
    launch->left = watched->count;
    launch->is_known = launch->has_begun = false;
    launch->reached = 0;
    launch->before = sc_order_copy_point(before);
    if (watched->latest)
        watched->latest->next = launch;
    else
        watched->oldest = launch;
    watched->latest = launch;
    watched->waiting++;
    return launch;
}

/* The driver has refused the launch, so the next one gets its number. If another launch has begun
 * since, or a node has run, runs can no longer be matched with launches. */
void sc_watched_nodes_fail_launch(struct sc_order *order, struct sc_watched_launch *launch)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_watched_nodes *watched = launch->of;
    watched->is_lost |= launch->number != watched->launches || launch->has_begun;
    watched->launches -= launch->number == watched->launches;
    free_launch(order, launch);
    free_if_abandoned(order, watched);
}

/* The launch's operations are recorded. Host nodes may have run before that: returns what the host
 * knows by them. */
struct sc_point sc_watched_nodes_end_launch(struct sc_order *order,
                                            struct sc_watched_launch *launch,
                                            const struct sc_stages *stages)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_watched_nodes *watched = launch->of;
    struct sc_point point = {0};
    launch->is_known = true;
    launch->stages = *stages;
    if (launch->has_begun)
        point = point_after(launch, launch->reached);
    if (!launch->left)
        free_launch(order, launch);
    free_if_abandoned(order, watched);
    return point;
}

/* ---- runs ---- */

/* A node of the launch has run, and tells the host of stages up to `stage`. With the last node the
 * launch's record ends, unless its call is still to record its operations. Only that run gives the
 * caller its place in the list of open calls. */
static struct sc_watched_run note_run(struct sc_order *order, struct sc_watched_launch *launch,
                                      unsigned stage)
{
    struct sc_watched_run run = {point_after(launch, stage), launch->before.stream, launch->call};
    launch->left -= launch->left != 0;
    if (launch->left)
        run.call.open = 0;
    launch->has_begun = true;
    launch->reached = (uint8_t)(stage > launch->reached ? stage : launch->reached);
    if (launch->is_known && !launch->left)
        free_launch(order, launch);
    return run;
}

/* The driver runs the node. Launches of an exec run one after the other, each with one run of the
 * node, so the number of the run is that of its launch. A run without a launch means that the count
 * is wrong. */
struct sc_watched_run sc_watched_nodes_note_run(struct sc_order *order,
                                                struct sc_watched_node *node)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_watched_nodes *watched = node->of;
    struct sc_watched_run run = {.stream = 0};
    struct sc_watched_launch *launch = find_launch(watched, ++node->ran);
    watched->is_lost |= node->ran > watched->launches;
    if (launch)
        run = note_run(order, launch, node->tells);
    if (node->ran >= node->last)
        free_node(order, node);
    free_if_abandoned(order, watched);
    return run;
}
