/* links: track/source_costs.c
 *
 * The cheaper way to keep a source is taken, and the dearer one now and then. */
#include "track/source_costs.h"

#include <check.h>
#include <stdlib.h>

enum { SIZE = 64 << 10, MANY = 3200 };

static void note_all(uint64_t copied, uint64_t compared, uint64_t protected, uint64_t unprotected)
{
    for (unsigned i = 0; i < 200; i++) {
        sc_source_costs_note(SC_SOURCE_COPIED, SIZE, copied);
        sc_source_costs_note(SC_SOURCE_COMPARED, SIZE, compared);
        sc_source_costs_note(SC_SOURCE_PROTECTED, SIZE, protected);
        sc_source_costs_note(SC_SOURCE_UNPROTECTED, SIZE, unprotected);
    }
}

static unsigned snapshots_of_many(void)
{
    unsigned snapshots = 0;
    for (unsigned i = 0; i < MANY; i++)
        snapshots += sc_source_costs_prefer_snapshots();
    return snapshots;
}

START_TEST(what_was_not_measured_is_tried)
{
    sc_source_costs_note(SC_SOURCE_PROTECTED, SIZE, 1000);
    sc_source_costs_note(SC_SOURCE_UNPROTECTED, SIZE, 1000);
    ck_assert_uint_gt(snapshots_of_many(), MANY / 2);
}
END_TEST

START_TEST(the_cheaper_way_is_taken_and_the_other_now_and_then)
{
    note_all(10000, 10000, 50000, 90000);
    unsigned snapshots = snapshots_of_many();
    ck_assert(snapshots > MANY * 9 / 10 && snapshots < MANY);
    note_all(200000, 150000, 50000, 90000);
    snapshots = snapshots_of_many();
    ck_assert(snapshots > 0 && snapshots < MANY / 10);
}
END_TEST

START_TEST(one_call_that_was_interrupted_changes_little)
{
    note_all(10000, 10000, 50000, 50000);
    sc_source_costs_note(SC_SOURCE_COPIED, SIZE, UINT64_MAX / 2);
    ck_assert_uint_gt(snapshots_of_many(), MANY / 2);
}
END_TEST

START_TEST(costs_are_of_a_page)
{
    note_all(10000, 10000, 15000, 15000);
    for (unsigned i = 0; i < 200; i++) {
        sc_source_costs_note(SC_SOURCE_COPIED, (size_t)4 * SIZE, 40000);
        sc_source_costs_note(SC_SOURCE_COMPARED, (size_t)4 * SIZE, 40000);
    }
    ck_assert_uint_gt(snapshots_of_many(), MANY / 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source costs");
    TCase *cases = tcase_create("source costs");
    tcase_add_test(cases, what_was_not_measured_is_tried);
    tcase_add_test(cases, the_cheaper_way_is_taken_and_the_other_now_and_then);
    tcase_add_test(cases, one_call_that_was_interrupted_changes_little);
    tcase_add_test(cases, costs_are_of_a_page);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
