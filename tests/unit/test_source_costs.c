/* links: track/source_costs.c
 *
 * The cheaper way to keep a source is taken, and the dearer one now and then. */
#include "track/source_costs.h"

#include <check.h>
#include <stdlib.h>

enum { SIZE = 64 << 10, MANY = 3200, FEW = 60 };

static void keep(enum sc_source_keeping by, unsigned times, size_t size_bytes, uint64_t ticks)
{
    for (unsigned i = 0; i < times; i++) {
        sc_source_costs_note(by, size_bytes, ticks / 2, true);
        sc_source_costs_note(by, size_bytes, ticks - ticks / 2, false);
    }
}

static void keep_all(uint64_t by_snapshot, uint64_t by_userfault)
{
    keep(SC_SOURCE_BY_SNAPSHOT, 200, SIZE, by_snapshot);
    keep(SC_SOURCE_BY_USERFAULT, 200, SIZE, by_userfault);
}

static unsigned snapshots_of_many(enum sc_source_keeping guard, bool for_many)
{
    unsigned snapshots = 0;
    for (unsigned i = 0; i < MANY; i++)
        snapshots += sc_source_costs_prefer_snapshots(guard, for_many);
    return snapshots;
}

static void most_are(enum sc_source_keeping guard, bool for_many, bool snapshots)
{
    unsigned count = snapshots_of_many(guard, for_many);
    ck_assert_uint_gt(count, 0);
    ck_assert_uint_lt(count, MANY);
    ck_assert(snapshots ? count > MANY * 9 / 10 : count < MANY / 10);
}

START_TEST(what_was_not_measured_is_tried_where_many_guard)
{
    keep(SC_SOURCE_BY_USERFAULT, 1, SIZE, 2000);
    most_are(SC_SOURCE_BY_USERFAULT, true, true);
}
END_TEST

START_TEST(few_threads_guard_first)
{
    keep(SC_SOURCE_BY_SNAPSHOT, 200, SIZE, 100);
    keep(SC_SOURCE_BY_USERFAULT, FEW, SIZE, 100000);
    ck_assert_uint_eq(snapshots_of_many(SC_SOURCE_BY_USERFAULT, false), 0);
    keep(SC_SOURCE_BY_USERFAULT, 10, SIZE, 100000);
    most_are(SC_SOURCE_BY_USERFAULT, false, true);
}
END_TEST

/* They find what is theirs in no cache. */
START_TEST(the_first_of_a_row_of_tries_do_not_count)
{
    keep_all(100000, 90000);
    for (unsigned i = 0, tried = 0; i < MANY; i++) {
        bool tries = sc_source_costs_prefer_snapshots(SC_SOURCE_BY_USERFAULT, false);
        tried = tries ? tried + 1 : 0;
        if (tries)
            keep(SC_SOURCE_BY_SNAPSHOT, 1, SIZE, tried <= 2 ? 200000 : 20000);
        else
            keep(SC_SOURCE_BY_USERFAULT, 1, SIZE, 90000);
    }
    most_are(SC_SOURCE_BY_USERFAULT, false, true);
}
END_TEST

START_TEST(few_threads_have_snapshots_where_these_are_cheaper_by_far)
{
    keep_all(100000, 60000);
    most_are(SC_SOURCE_BY_USERFAULT, true, true);
    keep_all(100000, 120000);
    most_are(SC_SOURCE_BY_USERFAULT, false, false);
    keep_all(100000, 200000);
    most_are(SC_SOURCE_BY_USERFAULT, false, true);
}
END_TEST

START_TEST(the_cheaper_way_is_taken_and_the_other_now_and_then)
{
    keep_all(20000, 140000);
    most_are(SC_SOURCE_BY_USERFAULT, true, true);
    keep_all(350000, 140000);
    most_are(SC_SOURCE_BY_USERFAULT, true, false);
}
END_TEST

START_TEST(the_mechanisms_are_measured_apart)
{
    keep_all(20000, 140000);
    keep(SC_SOURCE_BY_MPROTECT, 200, SIZE, 8000);
    most_are(SC_SOURCE_BY_USERFAULT, true, true);
    most_are(SC_SOURCE_BY_MPROTECT, true, false);
}
END_TEST

START_TEST(a_source_that_is_protected_already_takes_nothing)
{
    keep_all(20000, 60000);
    most_are(SC_SOURCE_BY_USERFAULT, true, true);
    for (unsigned i = 0; i < 200; i++) {
        keep(SC_SOURCE_BY_USERFAULT, 1, SIZE, 60000);
        for (unsigned again = 0; again < 9; again++)
            sc_source_costs_note(SC_SOURCE_BY_USERFAULT, SIZE, 0, true);
    }
    most_are(SC_SOURCE_BY_USERFAULT, true, false);
}
END_TEST

START_TEST(one_call_that_was_interrupted_changes_little)
{
    keep_all(20000, 100000);
    sc_source_costs_note(SC_SOURCE_BY_SNAPSHOT, SIZE, UINT64_MAX / 2, false);
    most_are(SC_SOURCE_BY_USERFAULT, true, true);
}
END_TEST

START_TEST(costs_are_of_a_page)
{
    keep_all(20000, 30000);
    keep(SC_SOURCE_BY_SNAPSHOT, 200, (size_t)4 * SIZE, 80000);
    most_are(SC_SOURCE_BY_USERFAULT, true, true);
}
END_TEST

START_TEST(small_sources_do_not_count)
{
    keep_all(20000, 30000);
    keep(SC_SOURCE_BY_SNAPSHOT, 200, 4 << 10, 80000);
    most_are(SC_SOURCE_BY_USERFAULT, true, true);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source costs");
    TCase *cases = tcase_create("source costs");
    tcase_add_test(cases, what_was_not_measured_is_tried_where_many_guard);
    tcase_add_test(cases, few_threads_guard_first);
    tcase_add_test(cases, the_first_of_a_row_of_tries_do_not_count);
    tcase_add_test(cases, few_threads_have_snapshots_where_these_are_cheaper_by_far);
    tcase_add_test(cases, the_cheaper_way_is_taken_and_the_other_now_and_then);
    tcase_add_test(cases, the_mechanisms_are_measured_apart);
    tcase_add_test(cases, a_source_that_is_protected_already_takes_nothing);
    tcase_add_test(cases, one_call_that_was_interrupted_changes_little);
    tcase_add_test(cases, costs_are_of_a_page);
    tcase_add_test(cases, small_sources_do_not_count);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
