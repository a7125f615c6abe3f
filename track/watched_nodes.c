#include "track/watched_nodes.h"

#include <stddef.h>

#include "common/checks.h"
#include "track/order.h"
#include "track/order_calls.h"

#include "common/poison.h"

/* ---- nodes ---- */

/* Frees the record of a left exec when its last node and its last launch are gone. */
static void free_if_abandoned(struct sc_order *order, struct sc_watched_nodes *watched)
{
    if (watched->is_left && !watched->nodes && !watched->oldest)
        sc_arena_free(&order->arena, watched, sizeof *watched);
}

static void free_node(struct sc_order *order, struct sc_watched_node *node)
{
    struct sc_watched_node **link = &node->of->nodes;
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    sc_arena_free(&order->arena, node, sizeof *node);
}

/* Will later launches run the node? A node that was dropped has the number of the last launch with
 * it. */
static bool is_in_future_launches(const struct sc_watched_node *node)
{
    return node->last == UINT64_MAX;
}

/* Notes that future launches do not have the node. Its record stays until the launches that were
 * made with it have run it. */
static void retire_node(struct sc_order *order, struct sc_watched_node *node)
{
    node->last = node->of->launches;
    node->of->count--;
    if (node->ran >= node->last)
        free_node(order, node);
}

static struct sc_watched_nodes *make_watched(struct sc_order *order)
{
    struct sc_watched_nodes *watched = sc_arena_alloc(&order->arena, sizeof *watched);
    if (watched)
        *watched = (struct sc_watched_nodes){0};
    return watched;
}

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

void sc_watched_nodes_drop(struct sc_order *order, struct sc_watched_node *node)
{
    SC_ASSERT_GUARDED(&order->streams);
    retire_node(order, node);
}

struct sc_watched_node *sc_watched_nodes_find(const struct sc_watched_nodes *watched,
                                              uintptr_t node)
{
    struct sc_watched_node *found = watched ? watched->nodes : NULL;
    while (found && (found->node != node || !is_in_future_launches(found)))
        found = found->next;
    return found;
}

/* Drops the node's former record, which is further down the list, and takes over what it notifies
 * of. */
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

/* Records that launches may still run stay, and are freed after their last run. */
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

static struct sc_watched_launch *find_launch(const struct sc_watched_nodes *watched,
                                             uint64_t number)
{
    struct sc_watched_launch *launch = watched->oldest;
    while (launch && launch->number < number)
        launch = launch->next;
    return launch && launch->number == number ? launch : NULL;
}

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

/* Returns what the host knows when nodes up to this stage have run. As long as the launch's
 * operations are not recorded, that is what came before the launch. */
static struct sc_point point_after(const struct sc_watched_launch *launch, unsigned stage)
{
    struct sc_point point = sc_order_copy_point(&launch->before);
    uint64_t end = launch->is_known ? sc_stages_end(&launch->stages, stage) : 0;
    if (end)
        point.number = end;
    return point;
}

/* Gives up the oldest launch if there are too many: the host may learn that it is done without the
 * library seeing it. If its operations are not recorded yet, its call is still under way, and it
 * stays. Returns the launch's `open`. Returns 0 if none was given up. */
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

/* Begins to follow a launch of an exec with watched host nodes, until all of them have run. Returns
 * NULL if it cannot be followed. Gives up the oldest launch if there are too many. */
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

/* Removes a launch that the driver has refused. If another launch has begun since, or a node has
 * run, runs can no longer be matched with launches: the exec is lost. */
void sc_watched_nodes_fail_launch(struct sc_order *order, struct sc_watched_launch *launch)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_watched_nodes *watched = launch->of;
    watched->is_lost |= launch->number != watched->launches || launch->has_begun;
    watched->launches -= launch->number == watched->launches;
    free_launch(order, launch);
    free_if_abandoned(order, watched);
}

/* Ends the call that launches. Nodes may have run before it returned; the point that they have
 * reached is returned. */
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

/* Notes that a node which notifies of stages up to `stage` has run in the launch. After its last
 * node the launch is freed. */
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

/* Notes that the node has run. The number of the run tells to which launch it belongs. */
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
