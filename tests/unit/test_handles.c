/* The handle map: growth, removal, and readers that race with changes. */
#include "common/handles.h"

#include <check.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/rounds.h"

static struct sc_handles handles;

static void set_up(void)
{
    ck_assert_int_eq(sc_handles_init(&handles), 0);
}

static void tear_down(void)
{
    sc_handles_destroy(&handles);
}

START_TEST(an_unknown_handle_has_no_value)
{
    ck_assert_uint_eq(sc_handles_get(&handles, 42), 0);
    ck_assert_uint_eq(sc_handles_remove(&handles, 42), 0);
}
END_TEST

START_TEST(a_value_is_put_replaced_and_removed)
{
    ck_assert_int_eq(sc_handles_put(&handles, 42, 7), 0);
    ck_assert_uint_eq(sc_handles_get(&handles, 42), 7);
    ck_assert_int_eq(sc_handles_put(&handles, 42, UINT64_MAX), 0);
    ck_assert_uint_eq(sc_handles_get(&handles, 42), UINT64_MAX);
    ck_assert_uint_eq(handles.count, 1);
    ck_assert_uint_eq(sc_handles_remove(&handles, 42), UINT64_MAX);
    ck_assert_uint_eq(sc_handles_get(&handles, 42), 0);
    ck_assert_uint_eq(handles.count, 0);
}
END_TEST

START_TEST(handles_of_all_bit_patterns_are_told_apart)
{
    for (unsigned bit = 0; bit < 64; bit++)
        ck_assert_int_eq(sc_handles_put(&handles, (uintptr_t)1 << bit, bit + 1), 0);
    ck_assert_int_eq(sc_handles_put(&handles, UINTPTR_MAX, 99), 0);
    for (unsigned bit = 0; bit < 64; bit++)
        ck_assert_uint_eq(sc_handles_get(&handles, (uintptr_t)1 << bit), bit + 1);
    ck_assert_uint_eq(sc_handles_get(&handles, UINTPTR_MAX), 99);
}
END_TEST

START_TEST(the_map_grows)
{
    enum { COUNT = 30000 };
    for (uintptr_t i = 1; i <= COUNT; i++)
        ck_assert_int_eq(sc_handles_put(&handles, i * 64, i), 0);
    ck_assert_uint_eq(handles.count, COUNT);
    for (uintptr_t i = 1; i <= COUNT; i++)
        if (sc_handles_get(&handles, i * 64) != i || sc_handles_get(&handles, i * 64 + 1) != 0)
            ck_abort_msg("handle %lu", i);
}
END_TEST

/* Against a plain array: every removal moves up the entries behind it. */
START_TEST(removal_leaves_no_gap)
{
    enum { HANDLES = 400 };
    uint64_t values[HANDLES + 1] = {0};
    unsigned count = rounds(60000);
    srandom(11);
    for (unsigned round = 1; round < count; round++) {
        uintptr_t handle = 1 + (uintptr_t)random() % HANDLES;
        if (random() % 2) {
            values[handle] = round;
            ck_assert_int_eq(sc_handles_put(&handles, handle, round), 0);
        } else {
            ck_assert_uint_eq(sc_handles_remove(&handles, handle), values[handle]);
            values[handle] = 0;
        }
        handle = 1 + (uintptr_t)random() % HANDLES;
        ck_assert_uint_eq(sc_handles_get(&handles, handle), values[handle]);
    }
    for (uintptr_t handle = 1; handle <= HANDLES; handle++)
        ck_assert_uint_eq(sc_handles_get(&handles, handle), values[handle]);
}
END_TEST

START_TEST(handles_that_come_and_go_do_not_grow_the_map)
{
    struct sc_handle_table *table = atomic_load(&handles.table);
    unsigned count = rounds(200000);
    for (uintptr_t i = 1; i < count; i++) {
        ck_assert_int_eq(sc_handles_put(&handles, i * 16, i), 0);
        if (i > 50)
            ck_assert_uint_eq(sc_handles_remove(&handles, (i - 50) * 16), i - 50);
    }
    ck_assert_ptr_eq(atomic_load(&handles.table), table);
}
END_TEST

struct sum {
    unsigned count;
    uint64_t handles, values;
};

static struct sum sum_of_all(void)
{
    struct sum sum = {0};
    SC_HANDLES_EACH (walk, &handles) {
        sum.count++;
        sum.handles += walk.handle;
        sum.values += walk.value;
    }
    return sum;
}

START_TEST(each_visits_every_handle_once)
{
    struct sum sum = sum_of_all();
    ck_assert_uint_eq(sum.count, 0);
    for (uintptr_t i = 1; i <= 1000; i++)
        ck_assert_int_eq(sc_handles_put(&handles, i, i * 2), 0);
    sc_handles_remove(&handles, 1000);
    sum = sum_of_all();
    ck_assert_uint_eq(sum.count, 999);
    ck_assert_uint_eq(sum.handles, 999 * 1000 / 2);
    ck_assert_uint_eq(sum.values, 999 * 1000);
}
END_TEST

enum { LASTING = 100 };
static _Atomic bool stop;

/* A handle that lasts has its value at every moment; one that comes and goes has its own or none.
 */
static void *read_on(void *argument)
{
    bool wrong = false;
    (void)argument;
    for (uintptr_t i = 0; !atomic_load(&stop); i++) {
        uintptr_t lasting = (1 + i % LASTING) * 32;
        uintptr_t passing = (1 + i % 2000) * 32 + 8;
        wrong |= sc_handles_get(&handles, lasting) != lasting + 1;
        uint64_t value = sc_handles_get(&handles, passing);
        wrong |= value != 0 && value != passing + 1;
    }
    return wrong ? &stop : NULL;
}

START_TEST(readers_race_with_growth_and_removal)
{
    enum { READERS = 3 };
    pthread_t readers[READERS];
    unsigned count = rounds(60);
    atomic_store(&stop, false);
    for (uintptr_t i = 1; i <= LASTING; i++)
        ck_assert_int_eq(sc_handles_put(&handles, i * 32, i * 32 + 1), 0);
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(pthread_create(&readers[i], NULL, read_on, NULL), 0);
    for (unsigned round = 0; round < count; round++) {
        for (uintptr_t i = 1; i <= 2000; i++)
            if (sc_handles_put(&handles, i * 32 + 8, i * 32 + 9) != 0)
                ck_abort_msg("handle %lu is not put", i);
        for (uintptr_t i = 1; i <= 2000; i++)
            if (sc_handles_remove(&handles, i * 32 + 8) != i * 32 + 9)
                ck_abort_msg("handle %lu is not removed", i);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < READERS; i++) {
        void *wrong;
        pthread_join(readers[i], &wrong);
        ck_assert_ptr_null(wrong);
    }
}
END_TEST

static unsigned long mapped_pages(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return pages;
}

/* Each map that grows to 2,000 handles had tables of 60 KB before. */
START_TEST(a_map_that_grew_leaves_nothing_mapped)
{
    struct sc_handles map;
    unsigned long before = mapped_pages();
    for (unsigned round = 0; round < 1000; round++) {
        if (sc_handles_init(&map) != 0)
            ck_abort_msg("no map in round %u", round);
        for (uintptr_t i = 1; i <= 2000; i++)
            if (sc_handles_put(&map, i * 32, i) != 0)
                ck_abort_msg("handle %lu is not put", i);
        sc_handles_destroy(&map);
    }
    ck_assert_uint_lt(mapped_pages(), before + 4096);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("handles");
    TCase *group = tcase_create("handles");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_set_timeout(group, 60);
    tcase_add_test(group, an_unknown_handle_has_no_value);
    tcase_add_test(group, a_value_is_put_replaced_and_removed);
    tcase_add_test(group, handles_of_all_bit_patterns_are_told_apart);
    tcase_add_test(group, the_map_grows);
    tcase_add_test(group, removal_leaves_no_gap);
    tcase_add_test(group, handles_that_come_and_go_do_not_grow_the_map);
    tcase_add_test(group, each_visits_every_handle_once);
    tcase_add_test(group, a_map_that_grew_leaves_nothing_mapped);
    tcase_add_test(group, readers_race_with_growth_and_removal);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
