/* track/graph_writes.c: what the launches of graphs may write. */
#include "track/graph_writes.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

enum { MEMORY = 4096, GRAPH = 0x1000, EXEC = 0x2000, ROUNDS = 300 };

static struct sc_graph_write write;
static struct sc_graph_writes graphs;

static void set_up(void)
{
    memset(&write, 0, sizeof write);
    memset(&graphs, 0, sizeof graphs);
}

static bool touches(uintptr_t address, size_t size_bytes)
{
    return sc_graph_write_may_touch(&write, address, size_bytes, address);
}

START_TEST(bytes_are_touched_to_the_last_one)
{
    sc_graph_write_add(&write.written, 100, 199);
    ck_assert(!touches(90, 10));
    ck_assert(touches(90, 11));
    ck_assert(touches(199, 1));
    ck_assert(!touches(200, 1));
}
END_TEST

START_TEST(a_kernel_writes_from_its_address_on_within_the_allocation)
{
    sc_graph_write_add(&write.named, 100, 100);
    ck_assert(sc_graph_write_may_touch(&write, 200, 10, 100));
    ck_assert(sc_graph_write_may_touch(&write, 91, 10, 50));
    ck_assert(!sc_graph_write_may_touch(&write, 200, 10, 101)); /* another allocation's */
    ck_assert(!sc_graph_write_may_touch(&write, 90, 10, 50));   /* further down */
}
END_TEST

/* Sorted, apart, and never less than what was added; all of it where there is room. */
static void check(const bool *added, unsigned count)
{
    const struct sc_graph_write_intervals *intervals = &write.written;
    unsigned held = 0;
    unsigned lost = 0;
    ck_assert_uint_le(intervals->count, SC_GRAPH_INTERVALS_MAX);
    for (unsigned i = 0; i < intervals->count; i++) {
        ck_assert_uint_le(intervals->of[i].first, intervals->of[i].last);
        ck_assert(i == 0 || intervals->of[i - 1].last < intervals->of[i].first);
        held += (unsigned)(intervals->of[i].last - intervals->of[i].first) + 1;
    }
    for (unsigned at = 0; at < MEMORY; at++)
        lost += added[at] && !touches(at, 1);
    ck_assert_uint_eq(lost, 0);
    if (count <= SC_GRAPH_INTERVALS_MAX)
        for (unsigned at = 0; at < MEMORY; at++)
            held -= added[at];
    ck_assert(count > SC_GRAPH_INTERVALS_MAX || held == 0);
}

START_TEST(intervals_hold_what_was_added)
{
    srand(1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        bool added[MEMORY] = {false};
        unsigned count = 1 + (unsigned)rand() % (2 * SC_GRAPH_INTERVALS_MAX);
        set_up();
        for (unsigned i = 0; i < count; i++) {
            unsigned first = (unsigned)rand() % MEMORY;
            unsigned last = first + (unsigned)rand() % 64;
            last = last < MEMORY ? last : MEMORY - 1;
            memset(added + first, true, last - first + 1);
            sc_graph_write_add(&write.written, first, last);
        }
        check(added, count);
    }
}
END_TEST

static void copy(uintptr_t graph, uintptr_t exec)
{
    sc_graph_writes_set(&graphs, exec, sc_graph_writes_find(&graphs, graph));
}

START_TEST(an_exec_writes_what_its_graph_does)
{
    sc_graph_write_add(&write.written, 5, 6);
    sc_graph_writes_set(&graphs, GRAPH, &write);
    copy(GRAPH, EXEC);
    sc_graph_writes_forget(&graphs, GRAPH);
    ck_assert_ptr_null(sc_graph_writes_find(&graphs, GRAPH));
    ck_assert_ptr_nonnull(sc_graph_writes_find(&graphs, EXEC));
    ck_assert_uint_eq(sc_graph_writes_find(&graphs, EXEC)->written.of[0].last, 6);
    copy(GRAPH, EXEC); /* updated by a graph that is not known */
    ck_assert_ptr_null(sc_graph_writes_find(&graphs, EXEC));
    ck_assert_uint_eq(graphs.count, 0);
    ck_assert_ptr_null(sc_graph_writes_find(&graphs, 0));
}
END_TEST

START_TEST(a_handle_is_what_it_was_last)
{
    sc_graph_writes_set(&graphs, GRAPH, &write);
    sc_graph_write_add(&write.named, 9, 9);
    sc_graph_writes_set(&graphs, GRAPH, &write);
    ck_assert_uint_eq(graphs.count, 1);
    ck_assert_uint_eq(sc_graph_writes_find(&graphs, GRAPH)->named.count, 1);
    sc_graph_writes_forget_all(&graphs);
    ck_assert_ptr_null(sc_graph_writes_find(&graphs, GRAPH));
    ck_assert_uint_eq(graphs.count, 0);
}
END_TEST

START_TEST(the_latest_are_kept)
{
    for (uintptr_t i = 1; i <= SC_GRAPH_WRITES_MAX + 3; i++)
        sc_graph_writes_set(&graphs, i, &write);
    ck_assert_uint_eq(graphs.count, SC_GRAPH_WRITES_MAX);
    ck_assert_ptr_null(sc_graph_writes_find(&graphs, 3));
    ck_assert_ptr_nonnull(sc_graph_writes_find(&graphs, 4));
    copy(4, EXEC); /* into the place that it is in */
    ck_assert_ptr_nonnull(sc_graph_writes_find(&graphs, EXEC));
    ck_assert_ptr_null(sc_graph_writes_find(&graphs, 4));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph_writes");
    TCase *cases = tcase_create("cases");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, bytes_are_touched_to_the_last_one);
    tcase_add_test(cases, a_kernel_writes_from_its_address_on_within_the_allocation);
    tcase_add_test(cases, intervals_hold_what_was_added);
    tcase_add_test(cases, an_exec_writes_what_its_graph_does);
    tcase_add_test(cases, a_handle_is_what_it_was_last);
    tcase_add_test(cases, the_latest_are_kept);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
