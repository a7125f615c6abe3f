#include "track/heard.h"

#include <stddef.h>

#include "common/checks.h"
#include "track/order.h"
#include "track/order_calls.h"

#include "common/poison.h"

/* ---- nodes ---- */

/* Frees the record of a left exec when its last node and its last launch are gone. */
static void free_heard_if_left(struct sc_order *order, struct sc_heard *heard)
{
    if (heard->is_left && !heard->nodes && !heard->oldest)
        sc_arena_give(&order->arena, heard, sizeof *heard);
}

static void free_node(struct sc_order *order, struct sc_heard_node *node)
{
    struct sc_heard_node **link = &node->of->nodes;
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    sc_arena_give(&order->arena, node, sizeof *node);
}

static bool is_current(const struct sc_heard_node *node)
{
    return node->last == UINT64_MAX;
}

/* Launches to come do not have the node. Its record stays until the launches made with it have run
 * it. */
static void retire_node(struct sc_order *order, struct sc_heard_node *node)
{
    node->last = node->of->launches;
    node->of->count--;
    if (node->ran >= node->last)
        free_node(order, node);
}

static struct sc_heard *make_heard(struct sc_order *order)
{
    struct sc_heard *heard = sc_arena_take(&order->arena, sizeof *heard);
    if (heard)
        *heard = (struct sc_heard){0};
    return heard;
}

struct sc_heard_node *sc_heard_add(struct sc_order *order, struct sc_heard **heard, uintptr_t node,
                                   void (*function)(void *), void *data)
{
    SC_ASSERT_GUARDED(&order->streams);
    if (!*heard)
        *heard = make_heard(order);
    struct sc_heard *of = *heard;
    struct sc_heard_node *added = of ? sc_arena_take(&order->arena, sizeof *added) : NULL;
    if (!added)
        return NULL;
    *added = (struct sc_heard_node){
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

void sc_heard_drop(struct sc_order *order, struct sc_heard_node *node)
{
    SC_ASSERT_GUARDED(&order->streams);
    retire_node(order, node);
}

struct sc_heard_node *sc_heard_find(const struct sc_heard *heard, uintptr_t node)
{
    struct sc_heard_node *found = heard ? heard->nodes : NULL;
    while (found && (found->node != node || !is_current(found)))
        found = found->next;
    return found;
}

void sc_heard_replace(struct sc_order *order, struct sc_heard_node *node)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_heard_node *former = node->next;
    while (former && (former->node != node->node || !is_current(former)))
        former = former->next;
    if (!former)
        return;
    node->tells = former->tells;
    retire_node(order, former);
}

void sc_heard_leave(struct sc_order *order, struct sc_heard **heard)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_heard *left = *heard;
    *heard = NULL;
    if (!left)
        return;
    left->is_left = true;
    for (struct sc_heard_node *next, *node = left->nodes; node; node = next) {
        next = node->next;
        if (is_current(node))
            retire_node(order, node);
    }
    free_heard_if_left(order, left);
}

/* ---- launches ---- */

static struct sc_heard_launch *find_launch(const struct sc_heard *heard, uint64_t number)
{
    struct sc_heard_launch *launch = heard->oldest;
    while (launch && launch->number < number)
        launch = launch->next;
    return launch && launch->number == number ? launch : NULL;
}

static void free_launch(struct sc_order *order, struct sc_heard_launch *launch)
{
    struct sc_heard *heard = launch->of;
    struct sc_heard_launch *before = NULL;
    struct sc_heard_launch **link = &heard->oldest;
    while (*link != launch) {
        before = *link;
        link = &before->next;
    }
    *link = launch->next;
    if (heard->latest == launch)
        heard->latest = before;
    heard->waiting--;
    sc_order_release(order, &launch->before);
    sc_arena_give(&order->arena, launch, sizeof *launch);
}

/* What the host knows when nodes up to this step have run. While the launch's operations are not
 * known, that is what was before the launch. */
static struct sc_point point_of(const struct sc_heard_launch *launch, unsigned steps)
{
    struct sc_point point = sc_order_copy_point(&launch->before);
    uint64_t end = launch->is_known ? sc_told_end(&launch->told, steps) : 0;
    if (end)
        point.number = end;
    return point;
}

/* Gives up the oldest launch if there are too many: the host may hear of its end unseen. If its
 * operations are not known yet, its call is still under way and it stays. Returns the launch's
 * `open`; 0: none was given up. */
static unsigned give_up_oldest(struct sc_order *order, struct sc_heard *heard)
{
    struct sc_heard_launch *oldest = heard->oldest;
    if (heard->waiting < SC_HEARD_WAITING_MAX || !oldest->is_known)
        return 0;
    unsigned place = oldest->call.open;
    struct sc_point point = point_of(oldest, SC_TOLD_MAX);
    sc_order_signal_past(order, &point);
    sc_order_release(order, &point);
    free_launch(order, oldest);
    return place;
}

struct sc_heard_launch *sc_heard_begin(struct sc_order *order, struct sc_heard *heard,
                                       const struct sc_point *before,
                                       const struct sc_heard_call *call, unsigned *given_up)
{
    SC_ASSERT_GUARDED(&order->streams);
    *given_up = 0;
    if (!heard->count || heard->is_lost)
        return NULL;
    struct sc_heard_launch *launch = sc_arena_take(&order->arena, sizeof *launch);
    heard->is_lost = !launch;
    if (!launch)
        return NULL;
    *given_up = give_up_oldest(order, heard);
    launch->next = NULL;
    launch->of = heard;
    launch->call = *call;
    launch->number = ++heard->launches;
    launch->left = heard->count;
    launch->is_known = launch->has_begun = false;
    launch->steps = 0;
    launch->before = sc_order_copy_point(before);
    if (heard->latest)
        heard->latest->next = launch;
    else
        heard->oldest = launch;
    heard->latest = launch;
    heard->waiting++;
    return launch;
}

/* If another launch has begun since, or a node has run, the numbers of launches and runs no longer
 * match: the exec is lost. */
void sc_heard_fail(struct sc_order *order, struct sc_heard_launch *launch)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_heard *heard = launch->of;
    heard->is_lost |= launch->number != heard->launches || launch->has_begun;
    heard->launches -= launch->number == heard->launches;
    free_launch(order, launch);
    free_heard_if_left(order, heard);
}

struct sc_point sc_heard_launched(struct sc_order *order, struct sc_heard_launch *launch,
                                  const struct sc_told *told)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_heard *heard = launch->of;
    struct sc_point point = {0};
    launch->is_known = true;
    launch->told = *told;
    if (launch->has_begun)
        point = point_of(launch, launch->steps);
    if (!launch->left)
        free_launch(order, launch);
    free_heard_if_left(order, heard);
    return point;
}

/* ---- runs ---- */

/* A node that tells of `steps` has run for the launch. After its last node the launch is freed. */
static struct sc_heard_run note_run(struct sc_order *order, struct sc_heard_launch *launch,
                                    unsigned steps)
{
    struct sc_heard_run run = {point_of(launch, steps), launch->before.stream, launch->call};
    launch->left -= launch->left != 0;
    if (launch->left)
        run.call.open = 0;
    launch->has_begun = true;
    launch->steps = (uint8_t)(steps > launch->steps ? steps : launch->steps);
    if (launch->is_known && !launch->left)
        free_launch(order, launch);
    return run;
}

struct sc_heard_run sc_heard_runs(struct sc_order *order, struct sc_heard_node *node)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_heard *heard = node->of;
    struct sc_heard_run run = {.stream = 0};
    struct sc_heard_launch *launch = find_launch(heard, ++node->ran);
    heard->is_lost |= node->ran > heard->launches;
    if (launch)
        run = note_run(order, launch, node->tells);
    if (node->ran >= node->last)
        free_node(order, node);
    free_heard_if_left(order, heard);
    return run;
}
