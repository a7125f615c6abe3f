/* track/node_authors.c: who added nodes that use device memory alone. */
#include "track/device_use.h"
#include "track/graphs.h"
#include "track/node_authors.h"

#include <check.h>
#include <stdlib.h>

enum { GRAPH = 0x1000, OTHER = 0x2000, MEMORY = 0x700000 };

static struct sc_node_authors authors;

static void set_up(void)
{
    authors = (struct sc_node_authors){NULL, 0};
}

static void tear_down(void)
{
    sc_node_authors_destroy(&authors);
}

static struct sc_device_use use_at(uintptr_t address)
{
    return (struct sc_device_use){.shape = {address, 64, 64, 1}, .direction = SC_MEMSET};
}

static void note(uintptr_t graph, uintptr_t node, uintptr_t address, uint32_t stack)
{
    const struct sc_device_use use = use_at(address);
    const struct sc_graph_author by = {.api = "memset", .stack = stack};
    sc_node_authors_note(&authors, graph, node, &use, &by);
}

/* 0: not known. */
static uint32_t find(uintptr_t graph, uintptr_t node, uintptr_t address)
{
    const struct sc_device_use use = use_at(address);
    const struct sc_graph_author by = sc_node_authors_find(&authors, graph, node, &use);
    return by.api ? by.stack : 0;
}

START_TEST(a_captured_node_is_known_by_its_graph_and_its_bytes)
{
    ck_assert_uint_eq(find(GRAPH, 7, MEMORY), 0);
    note(GRAPH, 0, MEMORY, 1);
    note(OTHER, 0, MEMORY, 2);
    note(GRAPH, 0, MEMORY + 64, 3);
    ck_assert_uint_eq(find(GRAPH, 7, MEMORY), 1);
    ck_assert_uint_eq(find(OTHER, 7, MEMORY), 2);
    ck_assert_uint_eq(find(GRAPH, 7, MEMORY + 64), 3);
    ck_assert_uint_eq(find(OTHER, 7, MEMORY + 64), 0);
    struct sc_device_use read = use_at(MEMORY);
    read.access = SC_DEVICE_READS;
    ck_assert_ptr_null(sc_node_authors_find(&authors, GRAPH, 7, &read).api);
}
END_TEST

START_TEST(a_node_with_a_name_is_known_by_it)
{
    note(GRAPH, 7, MEMORY, 1);
    note(GRAPH, 8, MEMORY, 2);
    ck_assert_uint_eq(find(GRAPH, 7, MEMORY), 1);
    ck_assert_uint_eq(find(GRAPH, 8, MEMORY), 2);
    ck_assert_uint_eq(find(GRAPH, 9, MEMORY), 0);
    note(GRAPH, 7, MEMORY, 3);
    ck_assert_uint_eq(find(GRAPH, 7, MEMORY), 3);
}
END_TEST

START_TEST(of_several_callers_none_is_named)
{
    note(GRAPH, 0, MEMORY, 1);
    note(GRAPH, 0, MEMORY, 1);
    ck_assert_uint_eq(find(GRAPH, 7, MEMORY), 1);
    note(GRAPH, 0, MEMORY, 2);
    ck_assert_uint_eq(find(GRAPH, 7, MEMORY), 0);
}
END_TEST

START_TEST(the_latest_are_kept)
{
    enum { COUNT = 4 * SC_NODE_AUTHORS_MAX };
    for (uint32_t i = 0; i < COUNT; i++) {
        note(GRAPH, 0, MEMORY + 64 * (uintptr_t)i, i + 1);
        ck_assert_uint_eq(find(GRAPH, 7, MEMORY + 64 * (uintptr_t)i), i + 1);
    }
    uint32_t known = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t found = find(GRAPH, 7, MEMORY + 64 * (uintptr_t)i);
        ck_assert(found == 0 || found == i + 1);
        known += found != 0;
    }
    ck_assert_uint_le(known, SC_NODE_AUTHORS_MAX);
    ck_assert_uint_ge(known, SC_NODE_AUTHORS_MAX / 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("node_authors");
    TCase *group = tcase_create("node_authors");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_add_test(group, a_captured_node_is_known_by_its_graph_and_its_bytes);
    tcase_add_test(group, a_node_with_a_name_is_known_by_it);
    tcase_add_test(group, of_several_callers_none_is_named);
    tcase_add_test(group, the_latest_are_kept);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
