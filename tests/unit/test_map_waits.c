/* links: interpose/guard/map_waits.c
 *
 * Calls of mprotect that take long are noticed when there are many of them. */
#include "interpose/guard/map_waits.h"

#include <check.h>

#include "common/ticks.h"

enum { MANY = 200, PAGE = 4096 };

static void note(unsigned count, size_t size_bytes, uint64_t us)
{
    for (unsigned i = 0; i < count; i++)
        sc_map_waits_note(size_bytes, sc_ticks_in_ns(us * 1000));
}

START_TEST(calls_of_one_thread_are_short)
{
    ck_assert(!sc_map_waits_are_long());
    note(MANY, PAGE, 2);
    note(MANY, 64 * PAGE, 6);
    note(MANY, 512 * PAGE, 3);
    ck_assert(!sc_map_waits_are_long());
}
END_TEST

/* H200: of 256 KB in a huge page 25 us by four threads, and by userfaultfd as much. */
START_TEST(many_pages_take_userfaultfd_long_as_well)
{
    note(MANY, 64 * PAGE, 25);
    ck_assert(!sc_map_waits_are_long());
    note(MANY, 64 * PAGE, 150);
    ck_assert(sc_map_waits_are_long());
    note(MANY, 64 * PAGE, 25);
    note(MANY, 0, 25);
    ck_assert(!sc_map_waits_are_long());
    note(MANY, PAGE, 2);
    note(MANY, 0, 25);
    ck_assert(sc_map_waits_are_long());
}
END_TEST

START_TEST(some_calls_that_were_interrupted_are_not_long)
{
    note(MANY, PAGE, 2);
    note(8, PAGE, 100000);
    ck_assert(!sc_map_waits_are_long());
}
END_TEST

START_TEST(threads_that_wait_for_each_other_are_seen_and_forgotten)
{
    note(MANY, 16 * PAGE, 180);
    ck_assert(sc_map_waits_are_long());
    note(MANY, 16 * PAGE, 5);
    ck_assert(!sc_map_waits_are_long());
    note(MANY, 512 * PAGE, 180);
    ck_assert(sc_map_waits_are_long());
}
END_TEST

int main(void)
{
    sc_ticks_start();
    Suite *suite = suite_create("map waits");
    TCase *cases = tcase_create("map waits");
    tcase_add_test(cases, calls_of_one_thread_are_short);
    tcase_add_test(cases, many_pages_take_userfaultfd_long_as_well);
    tcase_add_test(cases, some_calls_that_were_interrupted_are_not_long);
    tcase_add_test(cases, threads_that_wait_for_each_other_are_seen_and_forgotten);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
