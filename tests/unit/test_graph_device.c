/* track/graph_device.c: what the copies and memsets of an exec do with device memory. */
#include "track/graph_device.h"

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
    return sc_graph_device_list(&device, at, listed, room, is_disabled, NULL);
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
    device.is_left_out = true;
    add(2, 20);
    ck_assert_uint_eq(list_all(), 0);
    sc_graph_device_drop(&device, 1);
    ck_assert_uint_eq(list_all(), 0);
    sc_graph_device_drop(&device, 0);
    add(3, 30);
    ck_assert_uint_eq(list_all(), 1);
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
    tcase_add_test(cases, a_race_is_told_once_and_not_of_disabled_nodes);
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
