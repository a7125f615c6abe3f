/* links: interpose/guard/neighbours.c
 *
 * Pages and blocks that are touched beside what guards them: how often they are left out, and what
 * ends that. With pages of every size that a kernel may have. */
#include "interpose/guard/neighbours.h"

#include <check.h>
#include <stdlib.h>

#include "track/guarded.h"
#include "track/track.h"
#include "track/track_device.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/tracker.h"

enum { BLOCK = 2 << 20, MOST = 1 << 12 };

static const uintptr_t base = UINT64_C(0x7f0000000000);

static size_t page_bytes;

static void set_up(size_t bytes)
{
    page_bytes = bytes;
    sc_track.inflight.guards.page_mask = bytes - 1;
}

static void set_up_4k(void)
{
    set_up(4 << 10);
}

static void set_up_16k(void)
{
    set_up(16 << 10);
}

static void set_up_64k(void)
{
    set_up(64 << 10);
}

/* Forgets everything: the tests share one table. */
static void tear_down(void)
{
    sc_neighbours_forget(base, (size_t)64 * BLOCK);
}

static unsigned skips_in_a_row(uintptr_t address, unsigned most)
{
    unsigned count = 0;
    while (count < most && sc_neighbours_leave_out(address))
        count++;
    return count;
}

/* So that the page's block is left in peace: another page has been its first. */
static void note_page_alone(uintptr_t page)
{
    sc_neighbours_note_touch(page);
    while (sc_neighbours_leave_out(page)) {
    }
}

START_TEST(a_page_that_nobody_touches_is_never_left_out)
{
    for (unsigned i = 0; i < 100; i++)
        ck_assert(!sc_neighbours_leave_out(base));
}
END_TEST

START_TEST(each_touch_doubles_how_often_a_page_is_left_out)
{
    note_page_alone(base);
    for (unsigned expected = 2; expected <= MOST; expected *= 2) {
        sc_neighbours_note_touch(base + 17);
        ck_assert_uint_eq(skips_in_a_row(base, 2 * MOST), expected);
    }
    sc_neighbours_note_touch(base);
    ck_assert_uint_eq(skips_in_a_row(base, 2 * MOST), MOST);
}
END_TEST

START_TEST(peace_brings_the_guard_back)
{
    note_page_alone(base);
    for (unsigned i = 0; i < 3; i++)
        sc_neighbours_note_touch(base);
    ck_assert_uint_eq(skips_in_a_row(base, MOST), 8);
    for (unsigned i = 0; i < 100; i++)
        ck_assert(!sc_neighbours_leave_out(base));
    sc_neighbours_note_touch(base);
    ck_assert_uint_eq(skips_in_a_row(base, MOST), 1);
}
END_TEST

START_TEST(a_page_says_nothing_of_another_block)
{
    for (unsigned i = 0; i < 5; i++)
        sc_neighbours_note_touch(base);
    ck_assert(!sc_neighbours_leave_out(base + BLOCK));
    ck_assert(!sc_neighbours_leave_out(base - page_bytes));
}
END_TEST

START_TEST(page_after_page_is_the_whole_block)
{
    for (unsigned i = 0; i < 6; i++)
        sc_neighbours_note_touch(base + i * page_bytes);
    ck_assert_uint_eq(skips_in_a_row(base + BLOCK - 1, MOST), 32);
    ck_assert(!sc_neighbours_leave_out(base + BLOCK));
}
END_TEST

START_TEST(one_page_again_and_again_is_not_the_block)
{
    for (unsigned i = 0; i < 6; i++)
        sc_neighbours_note_touch(base);
    ck_assert_uint_eq(skips_in_a_row(base + BLOCK - 1, MOST), 1);
}
END_TEST

START_TEST(a_page_with_a_hazard_is_never_left_out)
{
    for (unsigned i = 0; i < 6; i++)
        sc_neighbours_note_touch(base + i * page_bytes);
    sc_neighbours_note_hazard(base + 5);
    sc_neighbours_note_touch(base);
    ck_assert(!sc_neighbours_leave_out(base));
    ck_assert(sc_neighbours_leave_out(base + page_bytes));
}
END_TEST

START_TEST(a_new_owner_begins_anew)
{
    for (unsigned i = 0; i < 6; i++)
        sc_neighbours_note_touch(base + i * page_bytes);
    sc_neighbours_note_hazard(base + 7 * page_bytes);
    sc_neighbours_forget(base, BLOCK);
    ck_assert(!sc_neighbours_leave_out(base));
    ck_assert(!sc_neighbours_leave_out(base + 3 * page_bytes));
    note_page_alone(base + 7 * page_bytes);
    sc_neighbours_note_touch(base + 7 * page_bytes);
    ck_assert(sc_neighbours_leave_out(base + 7 * page_bytes));
}
END_TEST

START_TEST(only_whole_pages_have_a_new_owner)
{
    const struct {
        size_t before, size_bytes;
        bool forgets;
    } cases[] = {
        {0, page_bytes, true},
        {0, page_bytes - 1, false},
        {page_bytes, 3 * page_bytes, true},
        {100, page_bytes + 100, true},
        {100, page_bytes + 99, false},
        {page_bytes, page_bytes, false},
        {0, 0, false},
        {page_bytes / 2, 0, false},
        {page_bytes - 1, 2 * page_bytes - 2, false},
        {0, page_bytes << 13, true},
        {page_bytes, page_bytes << 13, true},
    };
    const uintptr_t page = base + BLOCK + 17 * page_bytes;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        note_page_alone(page);
        sc_neighbours_note_touch(page);
        sc_neighbours_forget(page - cases[i].before, cases[i].size_bytes);
        ck_assert_int_eq(!sc_neighbours_leave_out(page), cases[i].forgets);
        tear_down();
    }
}
END_TEST

static void add_tests(Suite *suite, const char *name, SFun set_up_pages)
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, set_up_pages, tear_down);
    tcase_add_test(tests, a_page_that_nobody_touches_is_never_left_out);
    tcase_add_test(tests, each_touch_doubles_how_often_a_page_is_left_out);
    tcase_add_test(tests, peace_brings_the_guard_back);
    tcase_add_test(tests, a_page_says_nothing_of_another_block);
    tcase_add_test(tests, page_after_page_is_the_whole_block);
    tcase_add_test(tests, one_page_again_and_again_is_not_the_block);
    tcase_add_test(tests, a_page_with_a_hazard_is_never_left_out);
    tcase_add_test(tests, a_new_owner_begins_anew);
    tcase_add_test(tests, only_whole_pages_have_a_new_owner);
    suite_add_tcase(suite, tests);
}

int main(void)
{
    Suite *suite = suite_create("neighbours");
    add_tests(suite, "pages of 4 KB", set_up_4k);
    add_tests(suite, "pages of 16 KB", set_up_16k);
    add_tests(suite, "pages of 64 KB", set_up_64k);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
