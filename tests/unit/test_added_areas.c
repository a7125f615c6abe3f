/* links: interpose/guard/added_areas.c
 *
 * When memory that is not the library's changes from mprotect to userfaultfd. What is asked of the
 * kernel and of the spans is stood in for. */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/pages.h"
#include "interpose/base/process.h"
#include "interpose/guard/added_areas.h"
#include "interpose/guard/door.h"
#include "interpose/guard/map_budget.h"
#include "interpose/guard/map_waits.h"
#include "interpose/guard/protect.h"
#include "interpose/guard/userfaults.h"
#include "interpose/memory/areas.h"
#include "report/mechanism.h"
#include "report/options.h"

enum { PAGE = 4096, BYTES = 64 << 10, OWN_BYTES = 1 << 20 };

struct sc_areas sc_areas;
struct sc_options sc_options;

static const uintptr_t start = ((uintptr_t)1 << 40) + SC_AREAS_BYTES - OWN_BYTES / 2;
static bool waits_are_long, is_private, is_refused, has_no_mappings;
static struct sc_pages taken[2]; /* the latest ones */
static unsigned attempts, forced, taken_count;

bool sc_map_waits_are_long(void)
{
    return waits_are_long;
}

bool sc_map_budget_allows(void)
{
    return !has_no_mappings;
}

bool sc_guard_serves_areas(void)
{
    return true;
}

bool sc_userfaults_have_adopted(uintptr_t first, size_t size_bytes)
{
    for (unsigned i = 0; i < taken_count; i++)
        if (taken[i].start <= first && first + size_bytes <= taken[i].end)
            return true;
    return false;
}

bool sc_userfaults_may_adopt_shared(uintptr_t page)
{
    ck_assert_uint_eq(page % PAGE, 0);
    return !is_private;
}

bool sc_userfaults_adopt_shared(uintptr_t first, size_t size_bytes)
{
    ck_assert_uint_lt(taken_count, 2);
    taken[taken_count++] = (struct sc_pages){first, first + size_bytes};
    return true;
}

bool sc_protect_move_area(const struct sc_pages *pages, bool ends_guards,
                          bool (*adopt)(uintptr_t, size_t))
{
    attempts++;
    forced += ends_guards;
    return !is_refused && adopt(pages->start, pages->end - pages->start);
}

static void guard_one(void)
{
    struct sc_pages own = {start, start + OWN_BYTES};
    struct sc_pages pages = {start + PAGE, start + PAGE + BYTES};
    if (sc_added_areas_may_want(&pages))
        sc_added_areas_choose(&own, &pages);
}

static void set_up(void)
{
    sc_options.guard = SC_GUARD_UFFD;
}

/* Where there is swap, or a filter, mprotect goes on. */
START_TEST(memory_changes_behind_long_waits)
{
    unsigned expected = sc_mechanism_of(SC_GUARD_ON) == SC_MECHANISM_USERFAULTFD;
    sc_options.guard = SC_GUARD_ON;
    guard_one();
    ck_assert_uint_eq(attempts, 0);
    waits_are_long = true;
    guard_one();
    ck_assert_uint_eq(attempts, expected);
}
END_TEST

START_TEST(the_range_of_a_buffer_changes_as_far_as_its_area_goes)
{
    guard_one();
    guard_one();
    ck_assert_uint_eq(attempts, 1);
    ck_assert_uint_eq(taken[0].start, start);
    ck_assert_uint_eq(taken[0].end, ((uintptr_t)1 << 40) + SC_AREAS_BYTES);
}
END_TEST

START_TEST(each_area_of_a_buffer_changes)
{
    struct sc_pages own = {start, start + OWN_BYTES};
    struct sc_pages pages = {start + OWN_BYTES / 2 - PAGE, start + OWN_BYTES / 2 + PAGE};
    ck_assert(sc_added_areas_may_want(&pages));
    sc_added_areas_choose(&own, &pages);
    ck_assert_uint_eq(taken_count, 2);
    ck_assert_uint_eq(taken[0].end, taken[1].start);
    ck_assert_uint_eq(taken[1].end, own.end);
}
END_TEST

/* The first and last page of a buffer may have other memory as well, and stay mprotect's. */
START_TEST(pages_that_are_not_the_ranges_alone_are_left_out)
{
    struct sc_pages own = {start + PAGE, start + 2 * PAGE};
    struct sc_pages pages = {start, start + 3 * PAGE};
    for (int i = 0; i < 3; i++)
        sc_added_areas_choose(&own, &pages);
    ck_assert_uint_eq(attempts, 1);
    ck_assert_uint_eq(taken[0].start, own.start);
    ck_assert_uint_eq(taken[0].end, own.end);
    own.end = own.start;
    sc_added_areas_choose(&own, &pages);
    ck_assert_uint_eq(attempts, 1);
}
END_TEST

START_TEST(nothing_changes_where_mprotect_was_chosen)
{
    waits_are_long = true;
    sc_options.guard = SC_GUARD_MPROTECT;
    guard_one();
    ck_assert_uint_eq(attempts, 0);
}
END_TEST

START_TEST(for_private_memory_nothing_is_moved)
{
    is_private = true;
    for (int i = 0; i < 100; i++)
        guard_one();
    ck_assert_uint_eq(attempts, 0);
}
END_TEST

START_TEST(nothing_changes_near_the_limit_of_mappings)
{
    has_no_mappings = true;
    guard_one();
    ck_assert_uint_eq(attempts, 0);
}
END_TEST

START_TEST(a_change_that_is_refused_is_tried_ever_more_rarely_and_then_with_force)
{
    is_refused = true;
    for (int i = 0; i < 63; i++)
        guard_one();
    ck_assert_uint_eq(attempts, 6);
    ck_assert_uint_eq(forced, 0);
    guard_one();
    ck_assert_uint_eq(attempts, 7);
    ck_assert_uint_eq(forced, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("added_areas");
    TCase *tests = tcase_create("added_areas");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, memory_changes_behind_long_waits);
    tcase_add_test(tests, the_range_of_a_buffer_changes_as_far_as_its_area_goes);
    tcase_add_test(tests, each_area_of_a_buffer_changes);
    tcase_add_test(tests, pages_that_are_not_the_ranges_alone_are_left_out);
    tcase_add_test(tests, nothing_changes_where_mprotect_was_chosen);
    tcase_add_test(tests, for_private_memory_nothing_is_moved);
    tcase_add_test(tests, nothing_changes_near_the_limit_of_mappings);
    tcase_add_test(tests, a_change_that_is_refused_is_tried_ever_more_rarely_and_then_with_force);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
