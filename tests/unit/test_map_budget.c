/* How often the mappings of the process are counted, by a clock of the test's own. */
#include "common/now.h"
#include "interpose/base/mappings.h"
#include "report/file.h"
#include "track/track_parts.h"

#include <check.h>
#include <stdlib.h>

enum { MS = 1000000, LIMIT = 65530, MANY = 3000 };

static uint64_t now, count_takes, mappings;
static unsigned counts;
static _Atomic uint32_t busy;
static const struct {
    const _Atomic uint32_t *busy_spans;
} parts = {&busy};

#define sc_now_ns() now
#define sc_coarse_now_ns() now
#define sc_file_number(path, before) ((void)(path), (void)(before), (uint64_t)LIMIT)
#define sc_mappings_count counted_mappings
#define sc_track_parts parts

static uint64_t counted_mappings(void)
{
    now += count_takes;
    counts++;
    return mappings;
}

#include "interpose/guard/map_budget.c" /* poisons, so it comes last */

static void start(uint64_t used, uint64_t takes)
{
    now = 5000 * (uint64_t)MS;
    mappings = used;
    count_takes = takes;
    counts = 0;
    busy = MANY;
}

START_TEST(few_spans_are_allowed_without_a_count)
{
    start(LIMIT, MS);
    busy = 5;
    ck_assert(sc_map_budget_allows());
    ck_assert_uint_eq(counts, 0);
}
END_TEST

START_TEST(many_spans_are_allowed_as_long_as_there_are_mappings)
{
    start(10000, MS);
    ck_assert(sc_map_budget_allows());
    ck_assert_uint_eq(counts, 1);
    busy = MANY + 10000;
    ck_assert(sc_map_budget_allows());
    ck_assert_uint_eq(counts, 1);
}
END_TEST

/* A thousand operations, a millisecond each, where a count takes 60. */
START_TEST(a_process_without_mappings_spends_little_time_counting_them)
{
    start(LIMIT, 60 * MS);
    for (unsigned i = 0; i < 1000; i++, now += MS)
        ck_assert(!sc_map_budget_allows());
    ck_assert_uint_ge(counts, 1);
    ck_assert_uint_le(counts, 2);
}
END_TEST

START_TEST(mappings_that_are_given_back_are_noticed)
{
    start(LIMIT, MS);
    ck_assert(!sc_map_budget_allows());
    mappings = 10000;
    now += 51 * MS;
    ck_assert(sc_map_budget_allows());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("map_budget");
    TCase *group = tcase_create("map_budget");
    tcase_add_test(group, few_spans_are_allowed_without_a_count);
    tcase_add_test(group, many_spans_are_allowed_as_long_as_there_are_mappings);
    tcase_add_test(group, a_process_without_mappings_spends_little_time_counting_them);
    tcase_add_test(group, mappings_that_are_given_back_are_noticed);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
