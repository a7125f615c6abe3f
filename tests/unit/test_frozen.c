/* track/frozen.c: when memory that launches read counts as frozen. */
#include "track/frozen.h"
#include "track/graph_writes.h"
#include "track/hazard.h"
#include "track/hazard_words.h"
#include "track/shape.h"

#include <stdlib.h>

#include <check.h>

enum { A = 0x10000, B = 0x20000, SIZE = 0x1000, GRAPH = 1, OTHER_GRAPH, EXEC, OTHER, THIRD };
enum { OWN_THREAD = 77, OTHER_THREAD };

static struct sc_frozen frozen;
static struct sc_shape bytes_at(uintptr_t address)
{
    return (struct sc_shape){address, SIZE, SIZE, 1};
}

static void add(uint32_t name, uintptr_t address, uintptr_t graph)
{
    const struct sc_frozen_memory memory = {
        .hazard = {.code = SC305, .event = {.stack = name, .thread = OWN_THREAD}},
        .memory.shape = bytes_at(address),
        .base = address - SIZE,
        .graph = graph,
    };
    ck_assert(sc_frozen_add(&frozen, &memory));
}

static void set_up(void)
{
    frozen = (struct sc_frozen){0};
    add(7, A, GRAPH);
    sc_frozen_instantiated(&frozen, GRAPH, EXEC);
}

static void write_at(uintptr_t address)
{
    sc_frozen_used(&frozen, &(struct sc_device_use){.shape = bytes_at(address)});
}

static void name(uintptr_t address)
{
    const struct sc_device_use use = sc_device_use_named(address);
    sc_frozen_used(&frozen, &use);
}

/* The name of what a launch shows to be frozen, or 0. */
static uint32_t launch(uintptr_t exec)
{
    struct sc_hazard hazard = {0};
    sc_frozen_launched(&frozen, exec, OWN_THREAD);
    bool found = sc_frozen_take(&frozen, &hazard);
    ck_assert(found || !hazard.event.stack);
    return hazard.event.stack;
}

START_TEST(memory_is_frozen_at_the_second_launch)
{
    ck_assert_uint_eq(launch(EXEC), 0);
    ck_assert_uint_eq(launch(EXEC), 7);
    ck_assert_uint_eq(launch(EXEC), 0);
    ck_assert_uint_eq(frozen.count, 0);
}
END_TEST

START_TEST(launches_of_all_execs_of_the_graph_count)
{
    sc_frozen_instantiated(&frozen, GRAPH, OTHER);
    ck_assert_uint_eq(launch(EXEC), 0);
    ck_assert_uint_eq(launch(OTHER), 7);
}
END_TEST

START_TEST(another_exec_may_have_written_it)
{
    ck_assert_uint_eq(launch(EXEC), 0);
    ck_assert_uint_eq(launch(OTHER), 0);
    ck_assert_uint_eq(launch(EXEC), 0);
    ck_assert_uint_eq(launch(OTHER), 0);
    ck_assert_uint_eq(launch(EXEC), 0);
    ck_assert_uint_eq(launch(EXEC), 7);
}
END_TEST

/* Bytes, an address of the allocation before the memory, and none of both. */
START_TEST(another_exec_that_cannot_write_it_changes_nothing)
{
    struct sc_graph_write write = {.written.count = 0};
    sc_graph_write_add(&write.written, A - SIZE, A - 1);
    sc_graph_write_add(&write.named, A + SIZE, A + SIZE);
    ck_assert_uint_eq(launch(EXEC), 0);
    sc_frozen_captured(&frozen, OTHER, &write);
    sc_frozen_launched(&frozen, OTHER, OTHER_THREAD);
    ck_assert_uint_eq(launch(EXEC), 7);

    for (unsigned i = 0; i < 2; i++) {
        set_up();
        write = (struct sc_graph_write){.written.count = 0};
        sc_graph_write_add(i ? &write.written : &write.named, A - 1, i ? A : A - 1);
        ck_assert_uint_eq(launch(EXEC), 0);
        sc_frozen_captured(&frozen, OTHER, &write);
        sc_frozen_launched(&frozen, OTHER, OTHER_THREAD);
        ck_assert_uint_eq(launch(EXEC), 0);
        ck_assert_uint_eq(launch(EXEC), 7);
    }
}
END_TEST

/* It may have its addresses from memory. */
START_TEST(a_kernel_of_the_same_thread_may_write_anything)
{
    struct sc_graph_write write = {.written.count = 0};
    sc_graph_write_add(&write.written, B, B);
    for (unsigned i = 0; i < 2; i++) {
        set_up();
        ck_assert_uint_eq(launch(EXEC), 0);
        sc_frozen_captured(&frozen, OTHER, &write);
        sc_frozen_launched(&frozen, OTHER, OWN_THREAD);
        ck_assert_uint_eq(launch(EXEC), i == 0 ? 7 : 0);
        sc_graph_write_add(&write.named, B, B);
    }
}
END_TEST

START_TEST(what_is_written_is_not_frozen)
{
    write_at(A + SIZE);
    write_at(A - SIZE);
    ck_assert_uint_eq(frozen.count, 1);
    ck_assert_uint_eq(launch(EXEC), 0);
    write_at(A + SIZE - 1);
    ck_assert_uint_eq(launch(EXEC), 0);
    ck_assert_uint_eq(launch(EXEC), 0);
}
END_TEST

START_TEST(a_kernel_may_write_from_an_address_of_the_allocation_on)
{
    name(A + SIZE);
    name(A - SIZE - 1);
    ck_assert_uint_eq(frozen.count, 1);
    name(A - SIZE);
    ck_assert_uint_eq(frozen.count, 0);
    add(8, A, GRAPH);
    name(A + SIZE - 1);
    ck_assert_uint_eq(frozen.count, 0);
}
END_TEST

START_TEST(all_is_forgotten_where_anything_may_be_written)
{
    add(8, B, GRAPH);
    ck_assert_uint_eq(sc_frozen_forget(&frozen), 2);
    ck_assert_uint_eq(launch(EXEC), 0);
    ck_assert_uint_eq(launch(EXEC), 0);
}
END_TEST

START_TEST(memory_goes_with_the_graph_and_its_execs)
{
    sc_frozen_gone(&frozen, GRAPH);
    ck_assert_uint_eq(frozen.count, 1);
    ck_assert_uint_eq(launch(EXEC), 0);
    ck_assert_uint_eq(launch(EXEC), 7);
    add(8, A, OTHER_GRAPH);
    sc_frozen_instantiated(&frozen, OTHER_GRAPH, OTHER);
    sc_frozen_gone(&frozen, OTHER);
    ck_assert_uint_eq(frozen.count, 1);
    sc_frozen_gone(&frozen, OTHER_GRAPH);
    ck_assert_uint_eq(frozen.count, 0);
}
END_TEST

START_TEST(a_graph_that_is_gone_makes_no_execs)
{
    sc_frozen_gone(&frozen, GRAPH);
    sc_frozen_instantiated(&frozen, GRAPH, OTHER); /* another graph by the same handle */
    ck_assert_uint_eq(launch(OTHER), 0);
    ck_assert_uint_eq(launch(OTHER), 0);
    ck_assert_uint_eq(frozen.count, 1);
}
END_TEST

START_TEST(a_graph_that_was_changed_makes_no_execs_of_what_was_captured)
{
    add(8, B, OTHER_GRAPH);
    sc_frozen_changed(&frozen);
    ck_assert_uint_eq(frozen.count, 1); /* the other has no exec */
    sc_frozen_instantiated(&frozen, GRAPH, OTHER);
    ck_assert_uint_eq(launch(OTHER), 0);
    ck_assert_uint_eq(launch(OTHER), 0);
    ck_assert_uint_eq(launch(EXEC), 0); /* was made before */
    ck_assert_uint_eq(launch(EXEC), 7);
}
END_TEST

START_TEST(an_exec_that_is_updated_is_the_other_graphs)
{
    add(8, B, OTHER_GRAPH);
    ck_assert_uint_eq(launch(EXEC), 0);
    sc_frozen_instantiated(&frozen, OTHER_GRAPH, EXEC);
    ck_assert_uint_eq(launch(EXEC), 0);
    ck_assert_uint_eq(launch(EXEC), 8);
    ck_assert_uint_eq(frozen.count, 1);
}
END_TEST

START_TEST(several_memories_are_told_one_by_one)
{
    struct sc_hazard hazard;
    add(8, B, GRAPH);
    sc_frozen_instantiated(&frozen, GRAPH, OTHER);
    sc_frozen_launched(&frozen, OTHER, OWN_THREAD);
    sc_frozen_launched(&frozen, OTHER, OWN_THREAD);
    uint32_t names = 0;
    while (sc_frozen_take(&frozen, &hazard))
        names += hazard.event.stack;
    ck_assert_uint_eq(names, 7 + 8);
}
END_TEST

START_TEST(there_is_an_end_to_memories_and_execs)
{
    const struct sc_frozen_memory memory = {.memory.shape = bytes_at(B), .graph = OTHER_GRAPH};
    for (unsigned i = 1; i < SC_FROZEN_MAX; i++)
        add(8, B, OTHER_GRAPH);
    ck_assert(!sc_frozen_add(&frozen, &memory));
    for (uintptr_t exec = THIRD; exec < THIRD + 2 * SC_FROZEN_EXECS_MAX; exec++)
        sc_frozen_instantiated(&frozen, GRAPH, exec);
    ck_assert_uint_eq(frozen.memories[0].exec_count, SC_FROZEN_EXECS_MAX);
    ck_assert_uint_eq(launch(EXEC), 0);
    ck_assert_uint_eq(launch(EXEC), 7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frozen");
    TCase *cases = tcase_create("cases");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, memory_is_frozen_at_the_second_launch);
    tcase_add_test(cases, launches_of_all_execs_of_the_graph_count);
    tcase_add_test(cases, another_exec_may_have_written_it);
    tcase_add_test(cases, another_exec_that_cannot_write_it_changes_nothing);
    tcase_add_test(cases, a_kernel_of_the_same_thread_may_write_anything);
    tcase_add_test(cases, what_is_written_is_not_frozen);
    tcase_add_test(cases, a_kernel_may_write_from_an_address_of_the_allocation_on);
    tcase_add_test(cases, all_is_forgotten_where_anything_may_be_written);
    tcase_add_test(cases, memory_goes_with_the_graph_and_its_execs);
    tcase_add_test(cases, a_graph_that_is_gone_makes_no_execs);
    tcase_add_test(cases, a_graph_that_was_changed_makes_no_execs_of_what_was_captured);
    tcase_add_test(cases, an_exec_that_is_updated_is_the_other_graphs);
    tcase_add_test(cases, several_memories_are_told_one_by_one);
    tcase_add_test(cases, there_is_an_end_to_memories_and_execs);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
