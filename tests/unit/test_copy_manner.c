/* When a copy uses its sides, and whether its call waits: the tables of docs/driver.md. */
#include "common/op_kinds.h"
#include "track/copy_manner.h"

#include <check.h>
#include <stdlib.h>

enum { SMALL = 256, BATCHED = 64 * 1024, LARGE = 1 << 20 };

/* As the driver answers (tests/gpu/conformance_managed.expected): the call returns at once, or when
 * its stream is done; and then the source has been read, and the target written, or not. */
enum answer { AT_ONCE_LATE, AT_ONCE_READ, AT_ONCE_DONE, BLOCKS_READ, BLOCKS };

enum {
    DEVICE = SC_PLACE_DEVICE,
    MANAGED = SC_PLACE_MANAGED,
    MANAGED_AS_HOST = SC_PLACE_MANAGED_AS_HOST,
    LOCKED = SC_PLACE_LOCKED,
    PAGEABLE = SC_PLACE_PAGEABLE,
};

static struct sc_copy_manner manner(enum sc_copy_call call, int src, int dst, size_t size_bytes)
{
    const struct sc_copy_case asked = {.call = call,
                                       .src = (enum sc_copy_place)src,
                                       .dst = (enum sc_copy_place)dst,
                                       .size_bytes = size_bytes};
    return sc_copy_manner_of(&asked);
}

static struct sc_copy_manner in_place(enum sc_copy_call call, int src, int dst)
{
    const struct sc_copy_case asked = {.call = call,
                                       .src = (enum sc_copy_place)src,
                                       .dst = (enum sc_copy_place)dst,
                                       .size_bytes = SMALL,
                                       .in_place = true};
    return sc_copy_manner_of(&asked);
}

static void expect(struct sc_copy_manner manner, enum answer answer)
{
    bool is_done = answer == BLOCKS || answer == AT_ONCE_DONE;
    ck_assert_int_eq(manner.waits, answer == BLOCKS || answer == BLOCKS_READ);
    ck_assert_int_eq(manner.read, answer == AT_ONCE_LATE ? SC_LATE : SC_IN_CALL);
    ck_assert_int_eq(manner.written, is_done ? SC_IN_CALL : SC_LATE);
}

struct cell {
    int src, dst;
    enum answer answer;
};

static void expect_all(enum sc_copy_call call, const struct cell *cells, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++)
        expect(manner(call, cells[i].src, cells[i].dst, size), cells[i].answer);
}
#define EXPECT_ALL(call, cells, size) expect_all(call, cells, sizeof(cells) / sizeof *(cells), size)

/* Of nodes the launch does the same. */
static const enum sc_copy_call ordered[] = {SC_COPY_ASYNC, SC_COPY_NODE};

START_TEST(copies_by_unified_addresses)
{
    static const struct cell cells[] = {
        {LOCKED, LOCKED, BLOCKS},        {LOCKED, PAGEABLE, BLOCKS},
        {PAGEABLE, LOCKED, BLOCKS},      {PAGEABLE, PAGEABLE, BLOCKS},
        {MANAGED, PAGEABLE, BLOCKS},     {PAGEABLE, MANAGED, AT_ONCE_READ},
        {LOCKED, MANAGED, AT_ONCE_LATE}, {MANAGED, MANAGED, AT_ONCE_LATE},
        {MANAGED, LOCKED, AT_ONCE_LATE}, {LOCKED, DEVICE, AT_ONCE_LATE},
        {MANAGED, DEVICE, AT_ONCE_LATE}, {PAGEABLE, DEVICE, AT_ONCE_READ},
        {DEVICE, LOCKED, AT_ONCE_LATE},  {DEVICE, MANAGED, AT_ONCE_LATE},
        {DEVICE, PAGEABLE, BLOCKS},      {DEVICE, DEVICE, AT_ONCE_LATE},
    };
    for (size_t i = 0; i < 2; i++) {
        EXPECT_ALL(ordered[i], cells, SMALL);
        EXPECT_ALL(ordered[i], cells, LARGE);
    }
}
END_TEST

START_TEST(managed_memory_that_is_named_as_the_hosts_is_staged)
{
    static const struct cell cells[] = {
        {MANAGED_AS_HOST, DEVICE, BLOCKS_READ},     {MANAGED_AS_HOST, MANAGED, BLOCKS_READ},
        {MANAGED_AS_HOST, MANAGED_AS_HOST, BLOCKS}, {MANAGED_AS_HOST, LOCKED, BLOCKS},
        {MANAGED_AS_HOST, PAGEABLE, BLOCKS},        {DEVICE, MANAGED_AS_HOST, BLOCKS},
        {MANAGED, MANAGED_AS_HOST, BLOCKS},         {LOCKED, MANAGED_AS_HOST, BLOCKS},
        {PAGEABLE, MANAGED_AS_HOST, BLOCKS},
    };
    for (size_t i = 0; i < 2; i++)
        EXPECT_ALL(ordered[i], cells, SMALL);
}
END_TEST

START_TEST(a_large_pageable_source_is_waited_for)
{
    static const struct cell cells[] = {
        {PAGEABLE, DEVICE, BLOCKS_READ}, {PAGEABLE, MANAGED, BLOCKS_READ},
        {PAGEABLE, LOCKED, BLOCKS},      {LOCKED, DEVICE, AT_ONCE_LATE},
        {LOCKED, MANAGED, AT_ONCE_LATE}, {MANAGED, DEVICE, AT_ONCE_LATE},
    };
    for (size_t i = 0; i < 2; i++)
        EXPECT_ALL(ordered[i], cells, LARGE + 1);
}
END_TEST

START_TEST(a_device_that_works_in_place_stages_nothing)
{
    expect(in_place(SC_COPY_ASYNC, PAGEABLE, DEVICE), AT_ONCE_LATE);
    expect(in_place(SC_COPY_ASYNC, DEVICE, PAGEABLE), AT_ONCE_LATE);
    expect(in_place(SC_COPY_ASYNC, MANAGED, PAGEABLE), AT_ONCE_LATE);
    expect(in_place(SC_COPY_ASYNC, PAGEABLE, MANAGED), AT_ONCE_LATE);
    expect(in_place(SC_COPY_ASYNC, MANAGED_AS_HOST, MANAGED), AT_ONCE_LATE);
    expect(in_place(SC_COPY_ASYNC, PAGEABLE, PAGEABLE), BLOCKS);
    expect(in_place(SC_COPY_NODE, DEVICE, PAGEABLE), AT_ONCE_LATE);
    expect(in_place(SC_COPY_BATCH_DURING_CALL, PAGEABLE, PAGEABLE), AT_ONCE_READ);
    ck_assert_int_eq(in_place(SC_COPY_BATCH_ANY, PAGEABLE, DEVICE).read, SC_LATE);
}
END_TEST

START_TEST(synchronous_copies)
{
    static const int others[] = {MANAGED, MANAGED_AS_HOST, LOCKED, PAGEABLE};
    struct sc_copy_manner within = manner(SC_COPY_SYNC, DEVICE, DEVICE, SMALL);
    ck_assert(!within.waits && within.read == SC_LATE && within.written == SC_LATE);
    for (size_t src = 0; src < 4; src++) {
        expect(manner(SC_COPY_SYNC, DEVICE, others[src], SMALL), BLOCKS);
        for (size_t dst = 0; dst < 4; dst++)
            expect(manner(SC_COPY_SYNC, others[src], others[dst], SMALL), BLOCKS);
    }
    expect(manner(SC_COPY_SYNC, LOCKED, DEVICE, SMALL), BLOCKS);
    expect(manner(SC_COPY_SYNC, MANAGED, DEVICE, SMALL), BLOCKS);
}
END_TEST

START_TEST(what_a_synchronous_copy_staged_may_not_have_landed_on_the_device)
{
    expect(manner(SC_COPY_SYNC, PAGEABLE, DEVICE, SMALL), BLOCKS_READ);
}
END_TEST

/* By contract, as later drivers make use of it. */
START_TEST(batches_in_stream_order_are_late)
{
    for (int src = 0; src < SC_PLACES; src++)
        for (int dst = 0; dst < SC_PLACES; dst++)
            expect(manner(SC_COPY_BATCH_STREAM, src, dst, SMALL), AT_ONCE_LATE);
}
END_TEST

START_TEST(batches_during_the_call)
{
    static const struct cell cells[] = {
        {DEVICE, DEVICE, BLOCKS},         {DEVICE, MANAGED, BLOCKS},
        {DEVICE, LOCKED, BLOCKS},         {DEVICE, PAGEABLE, BLOCKS},
        {MANAGED, DEVICE, BLOCKS},        {MANAGED, MANAGED, BLOCKS},
        {MANAGED, LOCKED, BLOCKS},        {MANAGED, PAGEABLE, BLOCKS},
        {LOCKED, DEVICE, BLOCKS},         {LOCKED, MANAGED, BLOCKS},
        {LOCKED, LOCKED, BLOCKS},         {LOCKED, PAGEABLE, AT_ONCE_DONE},
        {PAGEABLE, DEVICE, AT_ONCE_READ}, {PAGEABLE, MANAGED, AT_ONCE_READ},
        {PAGEABLE, LOCKED, AT_ONCE_DONE}, {PAGEABLE, PAGEABLE, AT_ONCE_DONE},
    };
    EXPECT_ALL(SC_COPY_BATCH_DURING_CALL, cells, SMALL);
    EXPECT_ALL(SC_COPY_BATCH_DURING_CALL, cells, BATCHED);
    for (int src = LOCKED; src < SC_PLACES; src++)
        expect(manner(SC_COPY_BATCH_DURING_CALL, src, PAGEABLE, BATCHED + 1), AT_ONCE_READ);
}
END_TEST

/* Only small pageable sources on their way to the device were taken when the call returns. */
START_TEST(batches_in_any_order)
{
    for (int src = 0; src < SC_PLACES; src++)
        for (int dst = 0; dst < SC_PLACES; dst++) {
            bool is_taken = src == PAGEABLE && dst == DEVICE;
            expect(manner(SC_COPY_BATCH_ANY, src, dst, BATCHED + 1), AT_ONCE_LATE);
            ck_assert_int_eq(manner(SC_COPY_BATCH_ANY, src, dst, SMALL).read,
                             is_taken ? SC_TAKEN : SC_LATE);
            ck_assert_int_eq(manner(SC_COPY_BATCH_ANY, src, dst, SMALL).written, SC_LATE);
        }
}
END_TEST

START_TEST(the_driver_breaks_one_promise)
{
    struct sc_copy_case asked = {.call = SC_COPY_BATCH_DURING_CALL,
                                 .src = SC_PLACE_PAGEABLE,
                                 .dst = SC_PLACE_DEVICE,
                                 .size_bytes = BATCHED + 1};
    ck_assert(sc_copy_manner_breaks_promise(&asked));
    asked.size_bytes = BATCHED;
    ck_assert(!sc_copy_manner_breaks_promise(&asked));
    asked.dst = SC_PLACE_MANAGED;
    ck_assert(sc_copy_manner_breaks_promise(&asked));
    asked.src = SC_PLACE_LOCKED;
    ck_assert(!sc_copy_manner_breaks_promise(&asked));
    asked.src = SC_PLACE_PAGEABLE;
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
        const enum sc_copy_place place = sc_copy_manner_place(kinds[i]);
        bool is_late = sc_copy_manner_is_late_beside_device(kinds[i]);
        struct sc_copy_manner up = manner(SC_COPY_ASYNC, (int)place, DEVICE, SMALL);
        struct sc_copy_manner down = manner(SC_COPY_ASYNC, DEVICE, (int)place, SMALL);
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
    tcase_add_test(group, copies_by_unified_addresses);
    tcase_add_test(group, managed_memory_that_is_named_as_the_hosts_is_staged);
    tcase_add_test(group, a_large_pageable_source_is_waited_for);
    tcase_add_test(group, a_device_that_works_in_place_stages_nothing);
    tcase_add_test(group, synchronous_copies);
    tcase_add_test(group, what_a_synchronous_copy_staged_may_not_have_landed_on_the_device);
    tcase_add_test(group, batches_in_stream_order_are_late);
    tcase_add_test(group, batches_during_the_call);
    tcase_add_test(group, batches_in_any_order);
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
