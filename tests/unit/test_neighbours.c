/* links: interpose/neighbours.c
 *
 * Pages that are touched beside what is copied: how many operations go unguarded after a touch, and
 * when a page is guarded as before.
 */
#include "interpose/neighbours.h"

#include <check.h>
#include <stdlib.h>

#include "track/track.h"

enum { PAGE = 4096, LEVELS = 13, PEACE = 8 };

static const uintptr_t page = UINT64_C(0x7f1234567000);

static void set_up(void)
{
    sc_track.inflight.guards.page_mask = PAGE - 1;
}

/* How many operations in a row are let pass from now on, `most` or more of them. */
static unsigned count_skipped(unsigned most)
{
    unsigned count = 0;
    while (count < most && sc_neighbours_skip(page + 8))
        count++;
    return count;
}

START_TEST(a_page_in_peace_is_guarded)
{
    ck_assert(!sc_neighbours_skip(page));
    sc_neighbours_note(page + 100);
    ck_assert(!sc_neighbours_skip(page - 1));
    ck_assert(!sc_neighbours_skip(page + PAGE));
}
END_TEST

START_TEST(every_touch_doubles_what_is_let_pass)
{
    for (unsigned level = 0; level < LEVELS; level++) {
        sc_neighbours_note(page + level);
        ck_assert_uint_eq(count_skipped(1u << LEVELS), 1u << level);
    }
    sc_neighbours_note(page);
    ck_assert_uint_eq(count_skipped(1u << LEVELS), 1u << (LEVELS - 1));
}
END_TEST

/* The operation that ends count_skipped's loop is the first of those that are guarded. */
START_TEST(peace_brings_it_back)
{
    sc_neighbours_note(page);
    sc_neighbours_note(page);
    ck_assert_uint_eq(count_skipped(PEACE), 2);
    for (unsigned i = 1; i < 2 * PEACE; i++)
        ck_assert(!sc_neighbours_skip(page));
    sc_neighbours_note(page);
    ck_assert_uint_eq(count_skipped(PEACE), 1);
}
END_TEST

START_TEST(new_memory_has_no_past)
{
    static const struct {
        size_t before, size_bytes;
        bool forgets;
    } cases[] = {
        {0, PAGE, true},         {0, PAGE - 1, false},     {PAGE, 3 * PAGE, true},
        {100, PAGE + 100, true}, {100, PAGE + 99, false},  {PAGE, PAGE, false},
        {0, 0, false},           {PAGE / 2, 0, false},     {PAGE - 1, 2 * PAGE - 2, false},
        {0, PAGE << 13, true},   {PAGE, PAGE << 13, true},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        sc_neighbours_note(page);
        sc_neighbours_forget(page - cases[i].before, cases[i].size_bytes);
        ck_assert_int_eq(!sc_neighbours_skip(page), cases[i].forgets);
        sc_neighbours_forget(page, PAGE);
        ck_assert(!sc_neighbours_skip(page));
    }
    sc_neighbours_note(page);
    sc_neighbours_forget(page + PAGE, PAGE << 13);
    ck_assert(sc_neighbours_skip(page));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("neighbours");
    TCase *tests = tcase_create("neighbours");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, a_page_in_peace_is_guarded);
    tcase_add_test(tests, every_touch_doubles_what_is_let_pass);
    tcase_add_test(tests, peace_brings_it_back);
    tcase_add_test(tests, new_memory_has_no_past);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
