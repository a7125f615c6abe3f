/* Inner nodes of an exec: sentence by sentence what track/graphs.h promises. */
#include "common/unsure.h"
#include "tests/unit/destroy.h"
#include "track/graph_frees.h"
#include "track/graph_place.h"
#include "track/graphs_internal.h"
#include "track/order.h"

#include <check.h>
#include <stdlib.h>

enum {
    BASE = 0x100000,
    PAGE = 4096,
    EXEC = 0x7000,
    OUTER = 0x10,
    PLAIN = 0x20,
    INNER = 0x30,
    OTHER = 0x40,
    STRANGER = 0x50,
    CHILD = 0x60, /* within OUTER, with a node of its own */
    GRANDCHILD = 0x70,
    EVENT = 0x7100,
};

static struct sc_order order;
static struct sc_graphs graphs;

static struct sc_graph *exec(void)
{
    uint32_t id = sc_graphs_find(&graphs, EXEC);
    ck_assert_uint_ne(id, 0);
    return sc_graphs_at(&graphs, id);
}

static void add(uintptr_t node, uintptr_t inner, unsigned page)
{
    const struct sc_graph_use use = {.node = node,
                                     .shape = {BASE + page * PAGE, PAGE, PAGE, 1},
                                     .direction = SC_H2D,
                                     .kind = SC_REGISTERED};
    const struct sc_graph_extra extra = {.inner = inner};
    ck_assert(sc_graphs_add(&graphs, EXEC, &use, inner ? &extra : NULL, NULL));
}

/* A conditional node, in whose bodies two nodes use host memory, beside a plain one. Every second
 * page, so that uses stay apart. */
static void set_up(void)
{
    static const uintptr_t names[] = {OUTER, PLAIN};
    sc_order_init(&order);
    ck_assert_int_eq(sc_graphs_init(&graphs, &order), 0);
    sc_graphs_make_exec(&graphs, EXEC);
    sc_graphs_note_inner(&graphs, EXEC, INNER, OUTER);
    sc_graphs_note_inner(&graphs, EXEC, OTHER, OUTER);
    add(OUTER, INNER, 0);
    add(OUTER, OTHER, 2);
    add(PLAIN, 0, 4);
    sc_graphs_set_names(&graphs, EXEC, names, 2);
}

static void tear_down(void)
{
    uint32_t id = sc_graphs_find(&graphs, EXEC);
    if (id)
        sc_graphs_remove(&graphs, sc_graphs_detach(&graphs, EXEC));
    destroy_graphs(&graphs);
    destroy_order(&order);
}

static bool names(unsigned page)
{
    return sc_graphs_name_memory(&graphs, BASE + page * PAGE, PAGE, /*unregistered=*/false);
}

/* The run of a launch that begins there, or NULL. */
static const struct sc_graph_use *run_at(unsigned page)
{
    sc_graphs_make_runs(&graphs, EXEC);
    const struct sc_graph_uses *runs = &exec()->exec.runs;
    for (uint32_t i = 0; i < runs->count; i++)
        if (runs->list[i].shape.address == BASE + page * PAGE)
            return &runs->list[i];
    return NULL;
}

START_TEST(a_node_is_known_by_its_place)
{
    uintptr_t outer;
    ck_assert_int_eq(sc_graphs_place_of(&graphs, EXEC, INNER, &outer), SC_PLACE_INNER);
    ck_assert_uint_eq(outer, OUTER);
    ck_assert_int_eq(sc_graphs_place_of(&graphs, EXEC, OUTER, &outer), SC_PLACE_OUTERMOST);
    ck_assert_int_eq(sc_graphs_place_of(&graphs, EXEC, PLAIN, &outer), SC_PLACE_OUTERMOST);
    ck_assert_int_eq(sc_graphs_place_of(&graphs, EXEC, STRANGER, &outer), SC_PLACE_UNKNOWN);
}
END_TEST

START_TEST(without_bodies_every_node_is_of_the_outermost_graph)
{
    uintptr_t outer;
    sc_graphs_drop_node(&graphs, EXEC, 0); /* the exec is made anew */
    ck_assert_int_eq(sc_graphs_place_of(&graphs, EXEC, INNER, &outer), SC_PLACE_OUTERMOST);
    ck_assert_int_eq(sc_graphs_place_of(&graphs, EXEC, STRANGER, &outer), SC_PLACE_OUTERMOST);
}
END_TEST

START_TEST(a_change_drops_the_uses_of_one_node)
{
    sc_graphs_drop_inner(&graphs, EXEC, OUTER, INNER);
    ck_assert(!names(0));
    ck_assert(names(2));
    ck_assert(names(4));
}
END_TEST

START_TEST(a_changed_node_keeps_its_flags)
{
    struct sc_graph_flags flags = {.unsure = SC_UNSURE_LEFT_OUT, .stage = 3};
    sc_graphs_place_inner(&graphs, EXEC, OUTER, INNER, &flags);
    flags = sc_graphs_drop_inner(&graphs, EXEC, OUTER, INNER);
    ck_assert((flags.unsure & SC_UNSURE_ALL) == SC_UNSURE_LEFT_OUT && flags.stage == 3);
    add(OUTER, INNER, 6);
    sc_graphs_place_inner(&graphs, EXEC, OUTER, INNER, &flags);
    ck_assert(run_at(6)->unsure == SC_UNSURE_LEFT_OUT && run_at(6)->stage == 3);
    ck_assert(!run_at(2)->unsure && run_at(2)->stage == 0);
}
END_TEST

START_TEST(a_node_that_used_no_host_memory_is_unjudged_from_then_on)
{
    sc_graphs_note_inner(&graphs, EXEC, STRANGER, OUTER);
    struct sc_graph_flags flags = sc_graphs_drop_inner(&graphs, EXEC, OUTER, STRANGER);
    add(OUTER, STRANGER, 6);
    sc_graphs_place_inner(&graphs, EXEC, OUTER, STRANGER, &flags);
    ck_assert(run_at(6)->unsure);
    ck_assert(!run_at(0)->unsure);
}
END_TEST

START_TEST(what_is_possible_and_what_is_certain_do_not_mix)
{
    const struct sc_graph_flags possible = {.unsure = SC_UNSURE_LEFT_OUT};
    add(OUTER, INNER, 1);
    sc_graphs_place_inner(&graphs, EXEC, OUTER, OTHER, &possible);
    ck_assert_uint_eq(run_at(0)->shape.width_bytes, 2 * PAGE);
    ck_assert_uint_eq(run_at(2)->shape.width_bytes, PAGE);
}
END_TEST

START_TEST(what_the_outer_node_is_holds_for_all_inside)
{
    sc_graphs_add_unsure(&graphs, EXEC, OUTER, SC_UNSURE_UNJUDGED);
    ck_assert(sc_graphs_set_stage(&graphs, EXEC, OUTER, 2));
    ck_assert(run_at(0)->unsure && run_at(0)->stage == 2);
    ck_assert(run_at(2)->unsure && run_at(2)->stage == 2);
    ck_assert(!run_at(4)->unsure && run_at(4)->stage == 0);
}
END_TEST

START_TEST(a_disabled_node_is_left_out_and_still_named)
{
    sc_graphs_enable_node(&graphs, EXEC, INNER, false);
    ck_assert_ptr_null(run_at(0));
    ck_assert_ptr_nonnull(run_at(2));
    ck_assert(names(0));
    sc_graphs_drop_inner(&graphs, EXEC, OUTER, INNER);
    add(OUTER, INNER, 6);
    ck_assert_ptr_null(run_at(6));
    sc_graphs_enable_node(&graphs, EXEC, INNER, true);
    ck_assert_ptr_nonnull(run_at(6));
}
END_TEST

START_TEST(lost_names_leave_the_memory_named_and_nothing_in_flight)
{
    sc_graphs_disable_inner(&graphs, EXEC);
    ck_assert_ptr_null(run_at(0));
    ck_assert_ptr_null(run_at(2));
    ck_assert_ptr_nonnull(run_at(4));
    ck_assert(names(0) && names(2));
}
END_TEST

/* ---- child graphs ---- */

static void add_grandchild(void)
{
    sc_graphs_note_inner(&graphs, EXEC, CHILD, OUTER);
    sc_graphs_note_inner(&graphs, EXEC, GRANDCHILD, CHILD);
    add(OUTER, GRANDCHILD, 6);
}

START_TEST(a_node_within_a_child_is_of_the_outermost_around)
{
    uintptr_t outer;
    add_grandchild();
    ck_assert_int_eq(sc_graphs_place_of(&graphs, EXEC, GRANDCHILD, &outer), SC_PLACE_INNER);
    ck_assert_uint_eq(outer, OUTER);
    sc_graphs_drop_inner(&graphs, EXEC, OUTER, GRANDCHILD);
    ck_assert(!names(6));
    ck_assert(names(0) && names(2));
}
END_TEST

START_TEST(a_child_that_is_changed_drops_all_within)
{
    add_grandchild();
    sc_graphs_drop_inner(&graphs, EXEC, OUTER, CHILD);
    ck_assert(!names(6));
    ck_assert(names(0) && names(2));
}
END_TEST

START_TEST(a_change_within_a_child_that_was_given_another_loses_what_it_uses)
{
    add_grandchild();
    sc_graphs_drop_inner(&graphs, EXEC, OUTER, CHILD);
    add(OUTER, CHILD, 8);
    ck_assert_ptr_nonnull(run_at(8));
    sc_graphs_drop_inner(&graphs, EXEC, OUTER, GRANDCHILD);
    ck_assert_ptr_null(run_at(8));
    ck_assert(names(8));
    ck_assert_ptr_nonnull(run_at(0));
}
END_TEST

START_TEST(so_does_a_node_that_is_disabled_there)
{
    add_grandchild();
    sc_graphs_drop_node(&graphs, EXEC, OUTER);
    add(OUTER, OUTER, 8);
    sc_graphs_enable_node(&graphs, EXEC, GRANDCHILD, false);
    ck_assert_ptr_null(run_at(8));
    ck_assert_ptr_nonnull(run_at(4));
}
END_TEST

START_TEST(a_node_that_is_disabled_under_a_lost_name_loses_all_inner_ones)
{
    sc_graphs_enable_node(&graphs, EXEC, STRANGER, false);
    ck_assert_ptr_null(run_at(0));
    ck_assert_ptr_null(run_at(2));
    ck_assert_ptr_nonnull(run_at(4));
}
END_TEST

START_TEST(an_inner_node_that_is_disabled_leaves_the_outer_one_enabled)
{
    sc_graphs_enable_node(&graphs, EXEC, INNER, false);
    ck_assert(!sc_graphs_get_flags(&graphs, EXEC, OUTER).disabled);
    sc_graphs_enable_node(&graphs, EXEC, OUTER, false);
    ck_assert(sc_graphs_get_flags(&graphs, EXEC, OUTER).disabled);
}
END_TEST

START_TEST(a_change_drops_the_event_of_one_node)
{
    const struct sc_graph_event one = {.node = OUTER, .inner = INNER, .event = EVENT};
    const struct sc_graph_event two = {.node = OUTER, .inner = OTHER, .event = EVENT + 1};
    sc_graphs_add_event(&graphs, EXEC, &one);
    sc_graphs_add_event(&graphs, EXEC, &two);
    sc_graphs_set_notifies(&graphs, EXEC, OUTER, 2);
    struct sc_graph_flags flags = sc_graphs_drop_inner(&graphs, EXEC, OUTER, INNER);
    ck_assert_uint_eq(flags.tells, 2);
    ck_assert_uint_eq(exec()->exec.events.count, 1);
    ck_assert_uint_eq(exec()->exec.events.list[0].event, EVENT + 1);
    sc_graphs_add_event(&graphs, EXEC, &one);
    sc_graphs_place_inner(&graphs, EXEC, OUTER, INNER, &flags);
    ck_assert_uint_eq(exec()->exec.events.list[1].tells, 2);
}
END_TEST

START_TEST(names_that_lead_in_a_circle_have_an_end)
{
    uintptr_t outer;
    sc_graphs_note_inner(&graphs, EXEC, OUTER, OUTER);
    ck_assert_int_eq(sc_graphs_place_of(&graphs, EXEC, INNER, &outer), SC_PLACE_INNER);
    ck_assert_uint_eq(outer, OUTER);
    sc_graphs_note_inner(&graphs, EXEC, OUTER, CHILD);
    sc_graphs_note_inner(&graphs, EXEC, CHILD, OUTER);
    sc_graphs_drop_inner(&graphs, EXEC, OUTER, STRANGER);
    ck_assert(names(0) && names(2));
    sc_graphs_enable_node(&graphs, EXEC, CHILD, false);
    sc_graphs_disable_inner(&graphs, EXEC);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph bodies");
    TCase *group = tcase_create("graph bodies");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_add_test(group, a_node_is_known_by_its_place);
    tcase_add_test(group, without_bodies_every_node_is_of_the_outermost_graph);
    tcase_add_test(group, a_change_drops_the_uses_of_one_node);
    tcase_add_test(group, a_changed_node_keeps_its_flags);
    tcase_add_test(group, a_node_that_used_no_host_memory_is_unjudged_from_then_on);
    tcase_add_test(group, what_is_possible_and_what_is_certain_do_not_mix);
    tcase_add_test(group, what_the_outer_node_is_holds_for_all_inside);
    tcase_add_test(group, a_disabled_node_is_left_out_and_still_named);
    tcase_add_test(group, lost_names_leave_the_memory_named_and_nothing_in_flight);
    tcase_add_test(group, a_node_within_a_child_is_of_the_outermost_around);
    tcase_add_test(group, a_child_that_is_changed_drops_all_within);
    tcase_add_test(group, a_change_within_a_child_that_was_given_another_loses_what_it_uses);
    tcase_add_test(group, so_does_a_node_that_is_disabled_there);
    tcase_add_test(group, a_node_that_is_disabled_under_a_lost_name_loses_all_inner_ones);
    tcase_add_test(group, an_inner_node_that_is_disabled_leaves_the_outer_one_enabled);
    tcase_add_test(group, a_change_drops_the_event_of_one_node);
    tcase_add_test(group, names_that_lead_in_a_circle_have_an_end);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
