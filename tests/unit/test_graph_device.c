/* track/graph_device.c: what the copies and memsets of an exec do with device memory. */
#include "track/device_use.h"
#include "track/graph_device.h"
#include "track/handles.h"
#include "track/ordering.h"
#include "track/pool.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

enum { MAX = SC_GRAPH_DEVICE_MAX };

static struct sc_arena arena;
static struct sc_graph_device device;
static uintptr_t disabled; /* node */
static struct sc_device_use listed[MAX + 1];

static bool is_disabled(void *context, uintptr_t node)
{
    (void)context;
    return node == disabled;
}

static uint32_t list(uint32_t *at, uint32_t room)
{
    return sc_graph_device_list(&device, at, SC_GRAPH_DEVICE_ALL, listed, room, is_disabled, NULL);
}

/* How many there are, and the first one's address. */
static uint32_t list_which(int which, uintptr_t *first)
{
    uint32_t at = 0;
    listed[0].shape.address = 0;
    uint32_t count = sc_graph_device_list(&device, &at, which, listed, MAX, is_disabled, NULL);
    *first = listed[0].shape.address;
    return count;
}

static uint32_t list_all(void)
{
    uint32_t at = 0;
    return list(&at, MAX + 1);
}

static void add(uintptr_t node, uintptr_t address)
{
    const struct sc_device_use use = {.shape = {address, 8, 8, 1}, .direction = SC_MEMSET};
    sc_graph_device_add(&device, &arena, node, &use);
}

/* `freed_by`: 0: it is allocated. */
static bool own(uintptr_t address, size_t size_bytes, uintptr_t freed_by)
{
    return sc_graph_device_own(&device, &arena,
                               &(struct sc_graph_own){address, size_bytes, freed_by});
}

static void set_up(void)
{
    memset(&arena, 0, sizeof arena);
    memset(&device, 0, sizeof device);
    disabled = 0;
}

static void take_down(void)
{
    sc_graph_device_give(&device, &arena);
    ck_assert_ptr_null(device.list);
    sc_arena_destroy(&arena);
}

START_TEST(all_are_listed_as_they_came)
{
    ck_assert_uint_eq(list_all(), 0);
    add(1, 50);
    add(2, 30);
    add(2, 50);
    ck_assert_uint_eq(list_all(), 3);
    ck_assert_uint_eq(listed[0].shape.address, 50);
    ck_assert_uint_eq(listed[1].shape.address, 30);
    ck_assert_uint_eq(listed[2].shape.address, 50);
    ck_assert_int_eq(listed[2].direction, SC_MEMSET);
}
END_TEST

START_TEST(they_come_in_pieces)
{
    uint32_t at = 0;
    for (uintptr_t i = 0; i < 10; i++)
        add(i % 2, i);
    disabled = 1;
    ck_assert_uint_eq(list(&at, 2), 2);
    ck_assert_uint_eq(listed[1].shape.address, 2);
    ck_assert_uint_eq(list(&at, 2), 2);
    ck_assert_uint_eq(listed[0].shape.address, 4);
    ck_assert_uint_eq(list(&at, 2), 1);
    ck_assert_uint_eq(listed[0].shape.address, 8);
    ck_assert_uint_eq(list(&at, 2), 0);
}
END_TEST

START_TEST(a_node_that_is_disabled_does_nothing_until_it_is_enabled)
{
    add(1, 10);
    add(2, 20);
    disabled = 1;
    ck_assert_uint_eq(list_all(), 1);
    ck_assert_uint_eq(listed[0].shape.address, 20);
    disabled = 0;
    ck_assert_uint_eq(list_all(), 2);
}
END_TEST

START_TEST(a_node_that_changes_drops_its_own)
{
    add(1, 10);
    add(2, 20);
    add(1, 30);
    sc_graph_device_drop(&device, 1);
    ck_assert_uint_eq(list_all(), 1);
    ck_assert_uint_eq(listed[0].shape.address, 20);
    sc_graph_device_drop(&device, 3);
    ck_assert_uint_eq(list_all(), 1);
    sc_graph_device_drop(&device, 0);
    ck_assert_uint_eq(list_all(), 0);
}
END_TEST

START_TEST(what_is_left_out_comes_back_with_the_next_exec)
{
    add(1, 10);
    sc_graph_device_leave_out(&device);
    add(2, 20);
    ck_assert_uint_eq(list_all(), 0);
    sc_graph_device_drop(&device, 1);
    ck_assert_uint_eq(list_all(), 0);
    sc_graph_device_drop(&device, 0);
    add(3, 30);
    ck_assert_uint_eq(list_all(), 1);
}
END_TEST

START_TEST(memory_that_nodes_allocate_is_left_out_and_nothing_else)
{
    add(1, 10);
    ck_assert(own(20, 30, 0));
    add(2, 12);
    add(3, 50);
    add(4, 30);
    add(4, 13); /* its last byte is the first one */
    sc_graph_device_settle(&device, &arena);
    ck_assert_uint_eq(list_all(), 3);
    ck_assert_uint_eq(listed[2].shape.address, 50);
    add(5, 40);
    ck_assert_uint_eq(list_all(), 3);
    sc_graph_device_drop(&device, 0);
    add(5, 40);
    ck_assert_uint_eq(list_all(), 1);
}
END_TEST

START_TEST(a_free_of_unknown_memory_leaves_all_else_out)
{
    add(1, 10);
    ck_assert(own(100, 0, 7));
    ck_assert(own(90, 20, 0)); /* another node allocates it */
    sc_graph_device_settle(&device, &arena);
    ck_assert_uint_eq(list_all(), 1);
    ck_assert(own(200, 0, 8));
    sc_graph_device_settle(&device, &arena);
    ck_assert_uint_eq(list_all(), 1);
    ck_assert_int_eq(listed[0].direction, SC_FREE);
    ck_assert_uint_eq(listed[0].shape.address, 200);
    ck_assert_uint_eq(listed[0].shape.width_bytes, 1);
    add(2, 300);
    ck_assert_uint_eq(list_all(), 1);
    sc_graph_device_drop(&device, 0);
    for (unsigned i = 0; i < SC_GRAPH_OWN_MAX; i++)
        ck_assert(own(i, 1, 0));
    ck_assert(!own(7, 1, 0));
}
END_TEST

START_TEST(the_free_of_what_others_allocate_is_a_use)
{
    add(1, 100);
    add(2, 400);
    ck_assert(own(100, 50, 3));
    ck_assert(own(200, 50, 0));
    ck_assert(own(200, 0, 4));
    sc_graph_device_settle(&device, &arena);
    ck_assert_uint_eq(list_all(), 2);
    ck_assert_uint_eq(listed[0].shape.address, 400);
    ck_assert_uint_eq(listed[1].shape.address, 100);
    ck_assert_uint_eq(listed[1].shape.width_bytes, 1);
    ck_assert_int_eq(listed[1].direction, SC_FREE);
    ck_assert_uint_eq(sc_graph_device_of(&device, 3)->use.shape.address, 100);
    ck_assert_ptr_null(sc_graph_device_of(&device, 4));
}
END_TEST

static void put(struct sc_handles *set, uintptr_t node, uint64_t value)
{
    ck_assert_int_eq(sc_handles_put(set, node, value), 0);
}

START_TEST(where_a_node_stands_says_what_is_asked_of_it)
{
    struct sc_handles steps, unsure;
    uintptr_t first;
    ck_assert_int_eq(sc_handles_init(&steps) | sc_handles_init(&unsure), 0);
    for (uintptr_t node = 1; node <= 6; node++)
        add(node, 10 * node);
    put(&steps, 2, 1 + 1);
    put(&steps, 3, 2 + 1);
    put(&unsure, 4, SC_UNSURE_UNJUDGED);
    put(&unsure, 5, SC_UNSURE_GATED);
    put(&unsure, 6, SC_UNSURE_ENDS);
    sc_graph_device_place(&device, &(struct sc_graph_device_places){.unsure = NULL});
    ck_assert_uint_eq(list_which(SC_GRAPH_DEVICE_FREE, &first), 6);
    ck_assert_uint_eq(list_which(SC_GRAPH_DEVICE_IN_FLIGHT, &first), 6);
    sc_graph_device_place(&device, &(struct sc_graph_device_places){&steps, &unsure});
    ck_assert_uint_eq(list_which(SC_GRAPH_DEVICE_ALL, &first), 5);
    ck_assert_uint_eq(list_which(SC_GRAPH_DEVICE_IN_FLIGHT, &first), 4);
    ck_assert_uint_eq(list_which(SC_GRAPH_DEVICE_FREE, &first), 4);
    ck_assert_uint_eq(list_which(SC_GRAPH_DEVICE_GATED, &first), 1);
    ck_assert_uint_eq(first, 50);
    ck_assert_uint_eq(list_which(0, &first), 2);
    ck_assert_uint_eq(list_which(1, &first), 1);
    ck_assert_uint_eq(first, 20);
    ck_assert_uint_eq(list_which(2, &first), 1);
    ck_assert_uint_eq(first, 30);
    device.unsure = 1u << 2;
    ck_assert_uint_eq(list_which(2, &first), 0);
    ck_assert_uint_eq(list_which(SC_GRAPH_DEVICE_ALL, &first), 4);
    ck_assert_uint_eq(sc_graph_device_of(&device, 3)->told, 2);
    ck_assert_ptr_null(sc_graph_device_of(&device, 7));
    sc_handles_destroy(&steps);
    sc_handles_destroy(&unsure);
}
END_TEST

/* As it does in the hands of a call that gives the node other parameters. */
START_TEST(a_node_that_changes_stays_where_it_stands)
{
    uintptr_t first;
    add(1, 10);
    const struct sc_graph_device_use place = {.told = 3,
                                              .unsure = SC_UNSURE_ENDS | SC_UNSURE_GATED};
    sc_graph_device_place_node(&device, 1, &place);
    const struct sc_graph_device_use before = *sc_graph_device_of(&device, 1);
    sc_graph_device_drop(&device, 1);
    add(1, 20);
    ck_assert_uint_eq(list_which(0, &first), 1);
    sc_graph_device_place_node(&device, 1, &before);
    ck_assert_uint_eq(list_which(0, &first), 0);
    ck_assert_uint_eq(list_which(3, &first), 0);
    ck_assert_uint_eq(list_which(SC_GRAPH_DEVICE_GATED, &first), 1);
    ck_assert_uint_eq(first, 20);
    ck_assert_uint_eq(sc_graph_device_of(&device, 1)->told, 3);
}
END_TEST

static bool add_race(uintptr_t first, uintptr_t second)
{
    const struct sc_graph_race race = {.of = {{.node = first}, {.node = second}}};
    return sc_graph_device_add_race(&device, &arena, &race);
}

/* 0: there is none. */
static uintptr_t next_race(void)
{
    struct sc_graph_race race;
    return sc_graph_device_next_race(&device, &race, is_disabled, NULL) ? race.of[0].node : 0;
}

START_TEST(a_race_is_told_once_and_not_of_disabled_nodes)
{
    ck_assert_uint_eq(next_race(), 0);
    ck_assert(add_race(1, 2));
    ck_assert(add_race(3, 4));
    disabled = 2;
    ck_assert_uint_eq(next_race(), 3);
    ck_assert_uint_eq(next_race(), 0);
    disabled = 1;
    ck_assert_uint_eq(next_race(), 0);
    disabled = 0;
    ck_assert_uint_eq(next_race(), 1);
    ck_assert_uint_eq(next_race(), 0);
}
END_TEST

START_TEST(a_race_is_not_told_of_what_stands_behind_an_unseen_wait)
{
    const struct sc_graph_device_use behind = {.unsure = SC_UNSURE_UNJUDGED};
    add(1, 10);
    add(2, 10);
    ck_assert(add_race(1, 2));
    sc_graph_device_place_node(&device, 2, &behind);
    ck_assert_uint_eq(next_race(), 0);
    ck_assert(add_race(3, 4));
    ck_assert_uint_eq(next_race(), 3);
}
END_TEST

START_TEST(a_race_goes_with_either_node)
{
    add_race(1, 2);
    add_race(2, 3);
    add_race(4, 5);
    sc_graph_device_drop(&device, 2);
    ck_assert_uint_eq(next_race(), 4);
    ck_assert_uint_eq(next_race(), 0);
    add_race(1, 2);
    sc_graph_device_drop(&device, 0);
    ck_assert_uint_eq(next_race(), 0);
}
END_TEST

START_TEST(there_is_room_for_some_races)
{
    for (unsigned i = 0; i < SC_GRAPH_RACES_MAX; i++)
        ck_assert(add_race(1, 2));
    ck_assert(!add_race(1, 2));
}
END_TEST

START_TEST(there_is_an_end)
{
    for (uintptr_t i = 0; i < MAX + 5; i++)
        add(1, i);
    ck_assert_uint_eq(list_all(), MAX);
    for (uintptr_t i = 0; i < MAX; i++)
        ck_assert_uint_eq(listed[i].shape.address, i);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph_device");
    TCase *cases = tcase_create("cases");
    tcase_add_checked_fixture(cases, set_up, take_down);
    tcase_add_test(cases, all_are_listed_as_they_came);
    tcase_add_test(cases, they_come_in_pieces);
    tcase_add_test(cases, a_node_that_is_disabled_does_nothing_until_it_is_enabled);
    tcase_add_test(cases, a_node_that_changes_drops_its_own);
    tcase_add_test(cases, what_is_left_out_comes_back_with_the_next_exec);
    tcase_add_test(cases, memory_that_nodes_allocate_is_left_out_and_nothing_else);
    tcase_add_test(cases, a_free_of_unknown_memory_leaves_all_else_out);
    tcase_add_test(cases, the_free_of_what_others_allocate_is_a_use);
    tcase_add_test(cases, where_a_node_stands_says_what_is_asked_of_it);
    tcase_add_test(cases, a_node_that_changes_stays_where_it_stands);
    tcase_add_test(cases, a_race_is_told_once_and_not_of_disabled_nodes);
    tcase_add_test(cases, a_race_is_not_told_of_what_stands_behind_an_unseen_wait);
    tcase_add_test(cases, a_race_goes_with_either_node);
    tcase_add_test(cases, there_is_room_for_some_races);
    tcase_add_test(cases, there_is_an_end);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
