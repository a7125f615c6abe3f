/* links: interpose/graph/notifiers.c interpose/graph/driver_nodes.c
 *
 * Of what nodes of a graph tell, on graphs made at random and in orders made at random: nobody is
 * judged of whom the host may have heard, and no event stands for what is not before its node.
 */
#include "interpose/driver/driver.h"
#include "interpose/graph/notifiers.h"
#include "tests/unit/rounds.h"
#include "track/stages.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 120, GRAPHS = 1500 };

struct sc_real sc_real;

/* ---- a graph ---- */

static struct node {
    bool tells, names_memory;
    bool is_before[NODES_MAX]; /* the node, by an edge */
    bool comes_before[NODES_MAX];
    /* what was found of it */
    unsigned stage, notified;
    bool has_told, is_unjudged;
} nodes[NODES_MAX];

static CUgraphNode listed[NODES_MAX]; /* in the driver's order */
static unsigned count, unjudged_count;

static CUgraphNode name_of(unsigned node)
{
    return (CUgraphNode)(uintptr_t)(16 * (node + 1));
}

static struct node *node_of(CUgraphNode name)
{
    return &nodes[(uintptr_t)name / 16 - 1];
}

static unsigned chance(unsigned below)
{
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
}

static void begin(unsigned of)
{
    memset(nodes, 0, sizeof nodes);
    unjudged_count = 0;
    count = of;
    for (unsigned i = 0; i < count; i++)
        listed[i] = name_of(i);
}

/* Nodes are told of in any order, and an edge leads from a lower one to a higher one. */
static void add_edge(unsigned from, unsigned to)
{
    nodes[to].is_before[from] = true;
    nodes[to].comes_before[from] = true;
    for (unsigned i = 0; i < from; i++)
        nodes[to].comes_before[i] |= nodes[from].comes_before[i];
}

static void shuffle(void)
{
    for (unsigned i = count; i > 1; i--) {
        unsigned other = chance(i);
        CUgraphNode name = listed[i - 1];
        listed[i - 1] = listed[other];
        listed[other] = name;
    }
}

static CUresult get_dependencies(CUgraphNode node, CUgraphNode *room, CUgraphEdgeData *edges,
                                 size_t *found)
{
    size_t stored = 0;
    ck_assert_ptr_null(edges);
    for (unsigned i = 0; i < count; i++)
        if (node_of(node)->is_before[i]) {
            ck_assert_uint_lt(stored, *found);
            room[stored++] = name_of(i);
        }
    *found = stored;
    return CUDA_SUCCESS;
}

/* ---- what is found ---- */

static bool is_notifier(void *context, CUgraphNode node)
{
    ck_assert_ptr_eq(context, nodes);
    return node_of(node)->tells;
}

static bool tell_of(void *context, CUgraphNode node, unsigned stage)
{
    ck_assert_ptr_eq(context, nodes);
    ck_assert_uint_le(stage, SC_STAGES_MAX);
    ck_assert(!node_of(node)->stage == (stage != 0)); /* it gets one, or loses it */
    node_of(node)->stage = stage;
    return node_of(node)->names_memory;
}

static void let_tell(void *context, CUgraphNode node, unsigned stage)
{
    ck_assert_ptr_eq(context, nodes);
    ck_assert(node_of(node)->tells && !node_of(node)->has_told);
    node_of(node)->has_told = true;
    node_of(node)->notified = stage;
}

static void unjudge(void *context, CUgraphNode node)
{
    ck_assert_ptr_eq(context, nodes);
    node_of(node)->is_unjudged = true;
    unjudged_count += node_of(node)->names_memory;
}

static bool find(void)
{
    const struct sc_notifiers notifiers = {nodes, is_notifier, tell_of, let_tell, unjudge};
    sc_real.cuGraphNodeGetDependencies_v2 = get_dependencies;
    return sc_notifiers_find_stages(listed, count, &notifiers);
}

/* The launch ends before a node that tells of nothing else does. */
static void expect_of_pair(const struct node *notifier, const struct node *node)
{
    bool before = notifier->comes_before[node - nodes];
    bool stands = node->stage >= 1 && node->stage <= notifier->notified;
    if (!notifier->tells || !node->names_memory)
        return;
    ck_assert(!before || stands || node->is_unjudged); /* or a correct program would be accused */
    ck_assert(before || !stands);                      /* or the memory would go too early */
}

static void expect_sound(void)
{
    for (unsigned i = 0; i < count; i++) {
        bool is_told = false;
        ck_assert_int_eq(nodes[i].has_told, nodes[i].tells);
        for (unsigned k = 0; k < count; k++) {
            expect_of_pair(&nodes[k], &nodes[i]);
            is_told |= nodes[k].tells && nodes[k].comes_before[i];
        }
        ck_assert(is_told || (!nodes[i].is_unjudged && !nodes[i].stage));
    }
}

/* ---- the tests ---- */

static void make_at_random(void)
{
    begin(2 + chance(NODES_MAX - 2));
    unsigned width = 1 + chance(8);
    unsigned dense = 1 + chance(4);
    for (unsigned i = 0; i < count; i++) {
        nodes[i].tells = chance(4) == 0;
        nodes[i].names_memory = chance(3) == 0;
        for (unsigned edge = 0; i && edge < dense; edge++)
            if (chance(8))
                add_edge(i - 1 - chance(i < width ? i : width), i);
    }
}

START_TEST(nobody_is_judged_or_let_go_too_early)
{
    unsigned whole = 0;
    const unsigned graphs = rounds(GRAPHS);
    for (unsigned i = 0; i < graphs; i++) {
        make_at_random();
        if (chance(2))
            shuffle();
        if (!find())
            continue; /* too tangled: the caller judges none of them */
        whole++;
        expect_sound();
    }
    ck_assert_uint_gt(whole, graphs / 2);
}
END_TEST

/* Copy, record, copy, record ... */
static void make_chain(unsigned pairs)
{
    begin(2 * pairs);
    for (unsigned i = 0; i < count; i++) {
        nodes[i].tells = i % 2;
        nodes[i].names_memory = i % 2 == 0;
        if (i)
            add_edge(i - 1, i);
    }
}

START_TEST(of_a_chain_each_node_tells_of_one_stage_more)
{
    for (unsigned turn = 0; turn < 20; turn++) {
        make_chain(SC_STAGES_MAX);
        if (turn)
            shuffle();
        ck_assert(find());
        expect_sound();
        ck_assert_uint_eq(unjudged_count, 0);
        for (unsigned i = 0; i < count; i += 2) {
            ck_assert_uint_eq(nodes[i].stage, i / 2 + 1);
            ck_assert_uint_eq(nodes[i + 1].notified, i / 2 + 1);
        }
    }
}
END_TEST

START_TEST(what_is_beyond_the_last_stage_is_not_judged)
{
    make_chain(SC_STAGES_MAX + 5);
    ck_assert(find());
    expect_sound();
    ck_assert_uint_eq(unjudged_count, 5);
}
END_TEST

START_TEST(nodes_without_memory_take_no_stage)
{
    make_chain(40);
    for (unsigned i = 0; i < count; i++)
        nodes[i].names_memory = i == 60;
    ck_assert(find());
    expect_sound();
    ck_assert_uint_eq(nodes[60].stage, 1);
    ck_assert_uint_eq(nodes[59].notified, 0);
    ck_assert_uint_eq(nodes[61].notified, 1);
    ck_assert_uint_eq(unjudged_count, 0);
}
END_TEST

START_TEST(two_records_behind_one_copy_tell_the_same)
{
    begin(4);
    nodes[0].names_memory = true;
    nodes[1].tells = nodes[2].tells = nodes[3].tells = true;
    add_edge(0, 1);
    add_edge(0, 2);
    ck_assert(find());
    expect_sound();
    ck_assert_uint_eq(nodes[0].stage, 1);
    ck_assert(nodes[1].notified == 1 && nodes[2].notified == 1);
    ck_assert_uint_eq(nodes[3].notified, 0); /* behind nothing */
}
END_TEST

/* Each of two branches tells of its own copy, and a last node of both. */
START_TEST(of_two_branches_one_gets_a_stage)
{
    begin(6);
    nodes[0].names_memory = nodes[1].names_memory = nodes[4].names_memory = true;
    nodes[2].tells = nodes[3].tells = nodes[5].tells = true;
    add_edge(0, 2);
    add_edge(1, 3);
    add_edge(2, 4);
    add_edge(3, 4);
    add_edge(4, 5);
    ck_assert(find());
    expect_sound();
    ck_assert_uint_eq(unjudged_count, 1);
    ck_assert(!nodes[4].is_unjudged);
    ck_assert_uint_eq(nodes[5].notified, 2);
}
END_TEST

/* A notifier may use memory itself, as a child graph: that is of the next one's stage. */
START_TEST(what_a_notifier_uses_is_behind_what_it_tells_of)
{
    begin(3);
    nodes[0].names_memory = nodes[1].names_memory = true;
    nodes[1].tells = nodes[2].tells = true;
    add_edge(0, 1);
    add_edge(1, 2);
    ck_assert(find());
    expect_sound();
    ck_assert_uint_eq(nodes[1].notified, 1);
    ck_assert_uint_eq(nodes[1].stage, 2);
    ck_assert_uint_eq(nodes[2].notified, 2);
    ck_assert_uint_eq(unjudged_count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("notifiers");
    TCase *group = tcase_create("notifiers");
    tcase_set_timeout(group, 60);
    tcase_add_test(group, nobody_is_judged_or_let_go_too_early);
    tcase_add_test(group, of_a_chain_each_node_tells_of_one_stage_more);
    tcase_add_test(group, what_is_beyond_the_last_stage_is_not_judged);
    tcase_add_test(group, nodes_without_memory_take_no_stage);
    tcase_add_test(group, two_records_behind_one_copy_tell_the_same);
    tcase_add_test(group, of_two_branches_one_gets_a_stage);
    tcase_add_test(group, what_a_notifier_uses_is_behind_what_it_tells_of);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
