/* track/frozen.c: when memory that launches read counts as frozen. */
#include "common/hazard.h"
#include "common/hazard_words.h"
#include "common/op_kinds.h"
#include "common/shape.h"
#include "track/frozen.h"
#include "track/graph_writes.h"

#include <stdlib.h>
#include <string.h>

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
    sc_frozen_note_instantiated(&frozen, GRAPH, EXEC);
}

static void write_at(uintptr_t address)
{
    sc_frozen_note_use(&frozen, &(struct sc_device_use){.shape = bytes_at(address)});
}

static void name(uintptr_t address)
{
    const struct sc_device_use use = sc_device_use_named(address);
    sc_frozen_note_use(&frozen, &use);
}

/* The name of what a launch shows to be frozen, or 0. */
static uint32_t launch(uintptr_t exec)
{
    struct sc_hazard hazard = {0};
    sc_frozen_note_launch(&frozen, exec, OWN_THREAD);
    bool found = sc_frozen_take_hazard(&frozen, &hazard);
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
    sc_frozen_note_instantiated(&frozen, GRAPH, OTHER);
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
    sc_graph_writes_set(&frozen.writes, OTHER, &write);
    sc_frozen_note_launch(&frozen, OTHER, OTHER_THREAD);
    ck_assert_uint_eq(launch(EXEC), 7);

    for (unsigned i = 0; i < 2; i++) {
        set_up();
        write = (struct sc_graph_write){.written.count = 0};
        sc_graph_write_add(i ? &write.written : &write.named, A - 1, i ? A : A - 1);
        ck_assert_uint_eq(launch(EXEC), 0);
        sc_graph_writes_set(&frozen.writes, OTHER, &write);
        sc_frozen_note_launch(&frozen, OTHER, OTHER_THREAD);
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
        sc_graph_writes_set(&frozen.writes, OTHER, &write);
        sc_frozen_note_launch(&frozen, OTHER, OWN_THREAD);
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
    sc_frozen_forget_handle(&frozen, GRAPH);
    ck_assert_uint_eq(frozen.count, 1);
    ck_assert_uint_eq(launch(EXEC), 0);
    ck_assert_uint_eq(launch(EXEC), 7);
    add(8, A, OTHER_GRAPH);
    sc_frozen_note_instantiated(&frozen, OTHER_GRAPH, OTHER);
    sc_frozen_forget_handle(&frozen, OTHER);
    ck_assert_uint_eq(frozen.count, 1);
    sc_frozen_forget_handle(&frozen, OTHER_GRAPH);
    ck_assert_uint_eq(frozen.count, 0);
}
END_TEST

START_TEST(a_graph_that_is_gone_makes_no_execs)
{
    sc_frozen_forget_handle(&frozen, GRAPH);
    sc_frozen_note_instantiated(&frozen, GRAPH, OTHER); /* another graph by the same handle */
    ck_assert_uint_eq(launch(OTHER), 0);
    ck_assert_uint_eq(launch(OTHER), 0);
    ck_assert_uint_eq(frozen.count, 1);
}
END_TEST

START_TEST(a_graph_that_was_changed_makes_no_execs_of_what_was_captured)
{
    add(8, B, OTHER_GRAPH);
    sc_frozen_note_changed(&frozen);
    ck_assert_uint_eq(frozen.count, 1); /* the other has no exec */
    sc_frozen_note_instantiated(&frozen, GRAPH, OTHER);
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
    sc_frozen_note_instantiated(&frozen, OTHER_GRAPH, EXEC);
    ck_assert_uint_eq(launch(EXEC), 0);
    ck_assert_uint_eq(launch(EXEC), 8);
    ck_assert_uint_eq(frozen.count, 1);
}
END_TEST

START_TEST(several_memories_are_told_one_by_one)
{
    struct sc_hazard hazard;
    add(8, B, GRAPH);
    sc_frozen_note_instantiated(&frozen, GRAPH, OTHER);
    sc_frozen_note_launch(&frozen, OTHER, OWN_THREAD);
    sc_frozen_note_launch(&frozen, OTHER, OWN_THREAD);
    uint32_t names = 0;
    while (sc_frozen_take_hazard(&frozen, &hazard))
        names += hazard.event.stack;
    ck_assert_uint_eq(names, 7 + 8);
}
END_TEST

START_TEST(there_is_an_end_to_memories_and_execs)
{
    const struct sc_frozen_memory memory = {.memory.shape = bytes_at(B), .graph = OTHER_GRAPH};
    const struct sc_frozen_memory unused = {.memory.shape = bytes_at(B), .is_unused = true};
    for (unsigned i = 0; i < SC_FROZEN_UNUSED_MAX; i++)
        ck_assert(sc_frozen_add(&frozen, &unused));
    ck_assert(!sc_frozen_add(&frozen, &unused));
    for (unsigned i = 1; i < SC_FROZEN_MAX - SC_FROZEN_UNUSED_MAX; i++)
        add(8, B, OTHER_GRAPH);
    ck_assert(!sc_frozen_add(&frozen, &memory));
    ck_assert_uint_eq(frozen.count, SC_FROZEN_MAX);
    for (uintptr_t exec = THIRD; exec < THIRD + 2 * SC_FROZEN_EXECS_MAX; exec++)
        sc_frozen_note_instantiated(&frozen, GRAPH, exec);
    ck_assert_uint_eq(frozen.memories[0].exec_count, SC_FROZEN_EXECS_MAX);
    ck_assert_uint_eq(launch(EXEC), 0);
    ck_assert_uint_eq(launch(EXEC), 7);
}
END_TEST

/* ---- memory that no captured work uses ---- */

enum { VALUE = 0x01010101 };

static struct sc_device_use use_of(uintptr_t address, size_t size_bytes,
                                   enum sc_device_access access, enum sc_direction direction)
{
    return (struct sc_device_use){.shape = {address, size_bytes, size_bytes, 1},
                                  .access = access,
                                  .direction = direction,
                                  .fill = direction == SC_MEMSET ? VALUE : 0};
}

/* Work on memory, in one letter: sets A to another value than was left out, or to the same one;
 * half of it, more than it; uploads; reads it by a copy to the host, half of it, its neighbour,
 * more than it, on the device. A graph: its own launch, another one's, one of which nobody knows
 * what it writes. A kernel. */
static struct sc_device_use letter(char what)
{
    struct sc_device_use same = use_of(A, SIZE, SC_DEVICE_WRITES, SC_MEMSET);
    same.fill = 0;
    switch (what) {
    case 's':
        return use_of(A, SIZE, SC_DEVICE_WRITES, SC_MEMSET);
    case 'S':
        return same;
    case 'h':
        return use_of(A, SIZE / 2, SC_DEVICE_WRITES, SC_MEMSET);
    case 'w':
        return use_of(A - 1, SIZE + 2, SC_DEVICE_WRITES, SC_MEMSET);
    case 'u':
        return use_of(A, SIZE, SC_DEVICE_WRITES, SC_H2D);
    case 'n':
        return use_of(A + SIZE, SIZE, SC_DEVICE_WRITES, SC_H2D);
    case 'r':
        return use_of(A, SIZE, SC_DEVICE_READS, SC_D2H);
    case 'p':
        return use_of(A + 8, 8, SC_DEVICE_READS, SC_D2H);
    case 'm':
        return use_of(A - 1, SIZE + 2, SC_DEVICE_READS, SC_D2H);
    case 'd':
        return use_of(A, SIZE, SC_DEVICE_READS, SC_D2D);
    default:
        return (struct sc_device_use){.access = SC_DEVICE_READS};
    }
}

static void happens(char what)
{
    const struct sc_device_use use = letter(what);
    if (what == 'L' || what == 'O')
        sc_frozen_note_launch(&frozen, what == 'L' ? EXEC : OTHER, OWN_THREAD);
    else if (what == 'C')
        sc_frozen_note_changed(&frozen);
    else if (what == 'K')
        name(0);
    else
        sc_frozen_note_use(&frozen, &use);
}

/* Is the last of the letters, which is a read, said to show that work was left out? `of`: the work,
 * a memset to 0, a copy, or a kernel with the address of A; `graph_writes`: where. */
static bool shows(char of, const char *letters, uintptr_t graph_writes)
{
    struct sc_hazard hazard;
    struct sc_graph_write write = {.written.count = 0};
    struct sc_frozen_memory memory = {.hazard.event.stack = 9,
                                      .memory = letter(of == 'c' ? 'u' : 'S'),
                                      .base = A - SIZE,
                                      .graph = GRAPH,
                                      .is_unused = true};
    if (of == 'k')
        memory.memory = sc_device_use_named(A);
    frozen = (struct sc_frozen){0};
    ck_assert(sc_frozen_add(&frozen, &memory));
    sc_graph_write_add(&write.written, graph_writes, graph_writes + SIZE - 1);
    sc_graph_writes_set(&frozen.writes, GRAPH, &write);
    sc_graph_writes_set(&frozen.writes, OTHER_GRAPH, &write);
    sc_frozen_note_instantiated(&frozen, GRAPH, EXEC);
    sc_frozen_note_instantiated(&frozen, OTHER_GRAPH, OTHER);
    for (const char *what = letters; *what; what++)
        happens(*what);
    const struct sc_device_use last = letter(letters[strlen(letters) - 1]);
    bool shown = sc_frozen_note_copy_to_host(&frozen, &last, &hazard);
    ck_assert(!shown || (hazard.event.stack == 9 && frozen.count == 0 &&
                         hazard.buffer_address == last.shape.address));
    ck_assert(!sc_frozen_take_hazard(&frozen, &hazard));
    return shown;
}

START_TEST(what_is_set_anew_and_read_behind_a_launch_was_to_be_written_by_it)
{
    static const char *const shown[] = {"sLr",  "sLp",  "wLr",  "wLm",   "nsLr",
                                        "LsLr", "sLLr", "ssLr", "sLsLr", "sLnr"};
    for (unsigned i = 0; i < sizeof shown / sizeof *shown; i++)
        ck_assert_msg(shows('m', shown[i], B), "%s", shown[i]);
    ck_assert(shows('c', "sLr", B) && shows('c', "SLr", B) && shows('k', "sLr", B));
}
END_TEST

START_TEST(whatever_else_happens_to_it_speaks_for_the_program)
{
    static const char *const silent[] = {
        "r",    "sr",   "Lr",   "Lsr",  "SLr",  "hLr",  "uLr",  "suLr", "sLur", "sLsr",
        "sLm",  "sLd",  "sLn",  "rsLr", "dsLr", "KsLr", "sKLr", "sLKr", "OsLr", "sOLr",
        "sLOr", "shLr", "sSLr", "CsLr", "sCLr", "hsLr", "usLr", "srLr", "sdLr", "sLdr"};
    for (unsigned i = 0; i < sizeof silent / sizeof *silent; i++)
        ck_assert_msg(!shows('m', silent[i], B), "%s", silent[i]);
    ck_assert(!shows('m', "sLr", A - SIZE + 1)); /* the graph writes there */
    ck_assert(!shows('k', "uLr", B) && !shows('c', "uLr", B));
}
END_TEST

/* Rows with gaps between them are set by rows that are the same, or by a run over all of them. */
START_TEST(rows_are_set_anew_by_the_same_rows)
{
    for (unsigned i = 0; i < 3; i++) {
        struct sc_device_use rows = letter('S'), again = letter('s');
        rows.shape = (struct sc_shape){A, 64, 128, 32};
        again.shape = i == 0   ? rows.shape
                      : i == 1 ? again.shape
                               : (struct sc_shape){A, 64, 256, 32};
        frozen = (struct sc_frozen){0};
        ck_assert(
            sc_frozen_add(&frozen, &(struct sc_frozen_memory){.memory = rows, .is_unused = true}));
        sc_frozen_note_use(&frozen, &again);
        ck_assert_uint_eq(frozen.count, i < 2);
    }
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
    tcase_add_test(cases, what_is_set_anew_and_read_behind_a_launch_was_to_be_written_by_it);
    tcase_add_test(cases, whatever_else_happens_to_it_speaks_for_the_program);
    tcase_add_test(cases, rows_are_set_anew_by_the_same_rows);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
