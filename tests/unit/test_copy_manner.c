/* When a copy uses its sides, and whether its call waits: the tables of docs/driver.md. */
#include "track/copy_manner.h"

#include <check.h>
#include <stdlib.h>

enum { SMALL = 256, LARGE = 1 << 20 };

static const struct sc_copy_end DEVICE = {SC_PLACE_DEVICE, false};
static const struct sc_copy_end MANAGED = {SC_PLACE_MANAGED, false};
static const struct sc_copy_end LOCKED = {SC_PLACE_LOCKED, true};
static const struct sc_copy_end PAGEABLE = {SC_PLACE_PAGEABLE, true};
/* Named so by a type. */
static const struct sc_copy_end MANAGED_AS_HOST = {SC_PLACE_MANAGED, true};
static const struct sc_copy_end LOCKED_AS_DEVICE = {SC_PLACE_LOCKED, false};

enum answer { AT_ONCE_LATE, AT_ONCE_READ, BLOCKS };

static struct sc_copy_manner manner(enum sc_copy_call call, struct sc_copy_end src,
                                    struct sc_copy_end dst, size_t size_bytes)
{
    const struct sc_copy_case asked = {
        .call = call, .src = src, .dst = dst, .size_bytes = size_bytes};
    return sc_copy_manner_of(&asked);
}

static struct sc_copy_manner in_place(enum sc_copy_call call, struct sc_copy_end src,
                                      struct sc_copy_end dst)
{
    const struct sc_copy_case asked = {
        .call = call, .src = src, .dst = dst, .size_bytes = SMALL, .in_place = true};
    return sc_copy_manner_of(&asked);
}

static void expect(struct sc_copy_manner manner, enum answer answer)
{
    ck_assert_int_eq(manner.waits, answer == BLOCKS);
    ck_assert_int_eq(manner.read, answer == AT_ONCE_LATE ? SC_LATE : SC_IN_CALL);
    ck_assert_int_eq(manner.written, answer == BLOCKS ? SC_IN_CALL : SC_LATE);
}

/* Every cell, of each size that was measured. */
START_TEST(asynchronous_copies_by_unified_addresses)
{
    static const size_t sizes[] = {SMALL, LARGE};
    const struct {
        struct sc_copy_end src, dst;
        enum answer answer;
    } cells[] = {
        {LOCKED, LOCKED, BLOCKS},        {LOCKED, PAGEABLE, BLOCKS},
        {PAGEABLE, LOCKED, BLOCKS},      {PAGEABLE, PAGEABLE, BLOCKS},
        {MANAGED, PAGEABLE, BLOCKS},     {PAGEABLE, MANAGED, AT_ONCE_READ},
        {LOCKED, MANAGED, AT_ONCE_LATE}, {MANAGED, MANAGED, AT_ONCE_LATE},
        {MANAGED, LOCKED, AT_ONCE_LATE}, {LOCKED, DEVICE, AT_ONCE_LATE},
        {MANAGED, DEVICE, AT_ONCE_LATE}, {PAGEABLE, DEVICE, AT_ONCE_READ},
        {DEVICE, LOCKED, AT_ONCE_LATE},  {DEVICE, MANAGED, AT_ONCE_LATE},
        {DEVICE, PAGEABLE, BLOCKS},      {DEVICE, DEVICE, AT_ONCE_LATE},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        for (size_t size = 0; size < 2; size++)
            expect(manner(SC_COPY_ASYNC, cells[i].src, cells[i].dst, sizes[size]), cells[i].answer);
}
END_TEST

START_TEST(of_sides_that_are_named_as_the_hosts_the_call_waits)
{
    expect(manner(SC_COPY_ASYNC, MANAGED_AS_HOST, MANAGED_AS_HOST, SMALL), BLOCKS);
    expect(manner(SC_COPY_ASYNC, MANAGED_AS_HOST, LOCKED, SMALL), BLOCKS);
    expect(manner(SC_COPY_ASYNC, LOCKED, MANAGED_AS_HOST, SMALL), BLOCKS);
    expect(manner(SC_COPY_ASYNC, MANAGED_AS_HOST, DEVICE, SMALL), AT_ONCE_LATE);
    expect(manner(SC_COPY_ASYNC, MANAGED_AS_HOST, MANAGED, SMALL), AT_ONCE_LATE);
    expect(manner(SC_COPY_ASYNC, DEVICE, MANAGED_AS_HOST, SMALL), AT_ONCE_LATE);
    expect(manner(SC_COPY_ASYNC, LOCKED_AS_DEVICE, LOCKED_AS_DEVICE, SMALL), AT_ONCE_LATE);
}
END_TEST

START_TEST(a_device_that_works_in_place_stages_nothing)
{
    expect(in_place(SC_COPY_ASYNC, PAGEABLE, DEVICE), AT_ONCE_LATE);
    expect(in_place(SC_COPY_ASYNC, DEVICE, PAGEABLE), AT_ONCE_LATE);
    expect(in_place(SC_COPY_ASYNC, MANAGED, PAGEABLE), AT_ONCE_LATE);
    expect(in_place(SC_COPY_ASYNC, PAGEABLE, MANAGED), AT_ONCE_LATE);
    expect(in_place(SC_COPY_ASYNC, PAGEABLE, PAGEABLE), BLOCKS);
    expect(in_place(SC_COPY_NODE, DEVICE, PAGEABLE), AT_ONCE_LATE);
    ck_assert_int_eq(in_place(SC_COPY_BATCH_ANY, PAGEABLE, DEVICE).read, SC_LATE);
}
END_TEST

/* A launch waits for what goes to pageable memory, and for nothing else that is relied on. */
START_TEST(nodes)
{
    const struct sc_copy_end others[] = {DEVICE, MANAGED, LOCKED};
    for (size_t src = 0; src < 3; src++) {
        expect(manner(SC_COPY_NODE, others[src], PAGEABLE, SMALL), BLOCKS);
        expect(manner(SC_COPY_NODE, PAGEABLE, others[src], SMALL), AT_ONCE_READ);
        for (size_t dst = 0; dst < 3; dst++)
            expect(manner(SC_COPY_NODE, others[src], others[dst], SMALL), AT_ONCE_LATE);
    }
}
END_TEST

START_TEST(synchronous_copies)
{
    const struct sc_copy_end others[] = {MANAGED, LOCKED, PAGEABLE};
    struct sc_copy_manner within = manner(SC_COPY_SYNC, DEVICE, DEVICE, SMALL);
    ck_assert(!within.waits && within.read == SC_LATE && within.written == SC_LATE);
    for (size_t i = 0; i < 3; i++) {
        expect(manner(SC_COPY_SYNC, DEVICE, others[i], SMALL), BLOCKS);
        expect(manner(SC_COPY_SYNC, others[i], LOCKED, SMALL), BLOCKS);
        expect(manner(SC_COPY_SYNC, others[i], PAGEABLE, SMALL), BLOCKS);
    }
    expect(manner(SC_COPY_SYNC, LOCKED, DEVICE, SMALL), BLOCKS);
    expect(manner(SC_COPY_SYNC, MANAGED, DEVICE, SMALL), BLOCKS);
    expect(manner(SC_COPY_SYNC, PAGEABLE, MANAGED_AS_HOST, SMALL), BLOCKS);
    expect(manner(SC_COPY_SYNC, PAGEABLE, LOCKED_AS_DEVICE, SMALL), BLOCKS);
}
END_TEST

START_TEST(what_a_synchronous_copy_staged_may_not_have_landed)
{
    const struct sc_copy_end targets[] = {DEVICE, MANAGED};
    for (size_t i = 0; i < 2; i++) {
        struct sc_copy_manner staged = manner(SC_COPY_SYNC, PAGEABLE, targets[i], SMALL);
        ck_assert(staged.waits && staged.read == SC_IN_CALL && staged.written == SC_LATE);
    }
}
END_TEST

/* By contract; of pageable sources only small ones in any order were taken when the call returns.
 */
START_TEST(batches)
{
    const struct sc_copy_end ends[] = {DEVICE, MANAGED, LOCKED, PAGEABLE};
    for (size_t src = 0; src < 4; src++)
        for (size_t dst = 0; dst < 4; dst++) {
            bool small_only = ends[src].place == SC_PLACE_PAGEABLE;
            expect(manner(SC_COPY_BATCH_STREAM, ends[src], ends[dst], SMALL), AT_ONCE_LATE);
            expect(manner(SC_COPY_BATCH_DURING_CALL, ends[src], ends[dst], SMALL), AT_ONCE_READ);
            expect(manner(SC_COPY_BATCH_DURING_CALL, ends[src], ends[dst], LARGE), AT_ONCE_READ);
            expect(manner(SC_COPY_BATCH_ANY, ends[src], ends[dst], LARGE), AT_ONCE_LATE);
            ck_assert_int_eq(manner(SC_COPY_BATCH_ANY, ends[src], ends[dst], SMALL).read,
                             small_only ? SC_TAKEN : SC_LATE);
        }
}
END_TEST

START_TEST(the_driver_breaks_one_promise)
{
    struct sc_copy_case asked = {
        .call = SC_COPY_BATCH_DURING_CALL, .src = PAGEABLE, .dst = DEVICE, .size_bytes = 65537};
    ck_assert(sc_copy_manner_breaks_promise(&asked));
    asked.size_bytes = 65536;
    ck_assert(!sc_copy_manner_breaks_promise(&asked));
    asked.size_bytes = LARGE;
    asked.src = LOCKED;
    ck_assert(!sc_copy_manner_breaks_promise(&asked));
    asked.src = PAGEABLE;
    asked.call = SC_COPY_BATCH_ANY;
    ck_assert(!sc_copy_manner_breaks_promise(&asked));
}
END_TEST

START_TEST(where_memory_lies)
{
    ck_assert_int_eq(sc_copy_manner_place(SC_MANAGED), SC_PLACE_MANAGED);
    ck_assert_int_eq(sc_copy_manner_place(SC_PINNED), SC_PLACE_LOCKED);
    ck_assert_int_eq(sc_copy_manner_place(SC_REGISTERED), SC_PLACE_LOCKED);
    ck_assert_int_eq(sc_copy_manner_place(SC_PAGEABLE), SC_PLACE_PAGEABLE);
    ck_assert_int_eq(sc_copy_manner_place(SC_STACK), SC_PLACE_PAGEABLE);
}
END_TEST

START_TEST(the_short_answer_is_the_long_one)
{
    static const enum sc_buffer_kind kinds[] = {SC_PINNED, SC_REGISTERED, SC_PAGEABLE, SC_MANAGED,
                                                SC_STACK};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct sc_copy_end end = {sc_copy_manner_place(kinds[i]), kinds[i] != SC_MANAGED};
        bool is_late = sc_copy_manner_is_late_beside_device(kinds[i]);
        struct sc_copy_manner up = manner(SC_COPY_ASYNC, end, DEVICE, SMALL);
        struct sc_copy_manner down = manner(SC_COPY_ASYNC, DEVICE, end, SMALL);
        ck_assert_int_eq(is_late, up.read == SC_LATE);
        ck_assert_int_eq(is_late, down.written == SC_LATE);
        ck_assert(!is_late || (!up.waits && !down.waits));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("copy_manner");
    TCase *group = tcase_create("copy_manner");
    tcase_add_test(group, asynchronous_copies_by_unified_addresses);
    tcase_add_test(group, of_sides_that_are_named_as_the_hosts_the_call_waits);
    tcase_add_test(group, a_device_that_works_in_place_stages_nothing);
    tcase_add_test(group, nodes);
    tcase_add_test(group, synchronous_copies);
    tcase_add_test(group, what_a_synchronous_copy_staged_may_not_have_landed);
    tcase_add_test(group, batches);
    tcase_add_test(group, the_driver_breaks_one_promise);
    tcase_add_test(group, where_memory_lies);
    tcase_add_test(group, the_short_answer_is_the_long_one);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
