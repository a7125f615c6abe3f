/* track/graph_addresses.c: addresses of the kernels of an exec, each once and in order. */
#include "track/graph_addresses.h"
#include "track/pool.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

enum { MAX = SC_GRAPH_ADDRESSES_MAX };

static struct sc_arena arena;
static struct sc_graph_addresses addresses;
static uintptr_t left_out; /* node */
static uintptr_t listed[MAX + 1];

static bool is_left_out(void *context, uintptr_t node)
{
    (void)context;
    return node == left_out;
}

static uint32_t list(uint32_t index, uint32_t room)
{
    return sc_graph_addresses_list(&addresses, index, listed, room, is_left_out, NULL);
}

static void add(uintptr_t node, uintptr_t address)
{
    sc_graph_addresses_add(&addresses, &arena, node, address);
}

static void set_up(void)
{
    memset(&arena, 0, sizeof arena);
    memset(&addresses, 0, sizeof addresses);
    left_out = 0;
}

static void take_down(void)
{
    sc_graph_addresses_give(&addresses, &arena);
    ck_assert_ptr_null(addresses.list);
    sc_arena_destroy(&arena);
}

START_TEST(each_is_listed_once_and_in_order)
{
    ck_assert_uint_eq(list(0, 8), 0);
    add(1, 50);
    add(2, 30);
    add(2, 50);
    add(3, 40);
    ck_assert_uint_eq(list(0, 8), 3);
    ck_assert_uint_eq(listed[0], 30);
    ck_assert_uint_eq(listed[1], 40);
    ck_assert_uint_eq(listed[2], 50);
}
END_TEST

START_TEST(they_come_in_pieces)
{
    for (uintptr_t i = 0; i < 10; i++)
        add(1, 100 - i);
    ck_assert_uint_eq(list(0, 4), 4);
    ck_assert_uint_eq(listed[0], 91);
    ck_assert_uint_eq(list(4, 4), 4);
    ck_assert_uint_eq(list(8, 4), 2);
    ck_assert_uint_eq(listed[1], 100);
    ck_assert_uint_eq(list(10, 4), 0);
    ck_assert_uint_eq(list(11, 4), 0);
}
END_TEST

START_TEST(a_node_that_is_disabled_has_none_until_it_is_enabled)
{
    add(1, 10);
    add(2, 10);
    add(2, 20);
    ck_assert_uint_eq(list(0, 8), 2);
    left_out = 2;
    sc_graph_addresses_changed(&addresses);
    ck_assert_uint_eq(list(0, 8), 1);
    ck_assert_uint_eq(listed[0], 10);
    left_out = 0;
    sc_graph_addresses_changed(&addresses);
    ck_assert_uint_eq(list(0, 8), 2);
}
END_TEST

START_TEST(a_node_that_changes_drops_its_own)
{
    add(1, 10);
    add(2, 20);
    ck_assert_uint_eq(list(0, 8), 2);
    sc_graph_addresses_drop(&addresses, 1);
    ck_assert_uint_eq(list(0, 8), 1);
    ck_assert_uint_eq(listed[0], 20);
    sc_graph_addresses_drop(&addresses, 3);
    ck_assert_uint_eq(list(0, 8), 1);
    sc_graph_addresses_drop(&addresses, 0);
    ck_assert_uint_eq(list(0, 8), 0);
}
END_TEST

static int compare(const void *key, const void *element)
{
    uintptr_t a = *(const uintptr_t *)key, b = *(const uintptr_t *)element;
    return (a > b) - (a < b);
}

START_TEST(any_order_is_sorted_and_there_is_an_end)
{
    srand(1);
    for (uint32_t i = 0; i < MAX + 5; i++)
        add(i + 1, (uintptr_t)rand() % (2 * MAX));
    ck_assert_uint_eq(addresses.count, MAX);
    uint32_t count = list(0, MAX + 1);
    ck_assert_uint_gt(count, MAX / 4);
    for (uint32_t i = 1; i < count; i++)
        ck_assert_uint_lt(listed[i - 1], listed[i]);
    for (uint32_t i = 0; i < addresses.count; i++)
        ck_assert_ptr_nonnull(
            bsearch(&addresses.list[i].address, listed, count, sizeof *listed, compare));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph_addresses");
    TCase *cases = tcase_create("cases");
    tcase_add_checked_fixture(cases, set_up, take_down);
    tcase_add_test(cases, each_is_listed_once_and_in_order);
    tcase_add_test(cases, they_come_in_pieces);
    tcase_add_test(cases, a_node_that_is_disabled_has_none_until_it_is_enabled);
    tcase_add_test(cases, a_node_that_changes_drops_its_own);
    tcase_add_test(cases, any_order_is_sorted_and_there_is_an_end);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
