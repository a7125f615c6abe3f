#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/now.h"
#include "common/ticks.h"

START_TEST(ticks_become_the_time_they_were_taken)
{
    uint64_t before_ns = sc_now_ns();
    uint64_t ticks = sc_ticks();
    uint64_t after_ns = sc_now_ns();
    usleep(20000);
    uint64_t ns = sc_ticks_to_ns(ticks);
    uint64_t slack_ns = 200000; /* a hundredth of what has passed since */
    ck_assert_uint_ge(ns + slack_ns, before_ns);
    ck_assert_uint_le(ns, after_ns + slack_ns);
}
END_TEST

/* The C library's, for the whole program; every other reading is late. */
static bool interrupted;

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static unsigned count;
    if (interrupted && count++ % 2 == 0)
        usleep(5000);
    return (int)syscall(SYS_clock_gettime, clock, now);
}

START_TEST(a_thread_may_be_interrupted_between_the_clocks)
{
    uint64_t before_ns = sc_now_ns();
    uint64_t ticks = sc_ticks();
    uint64_t after_ns = sc_now_ns();
    interrupted = true;
    uint64_t ns = sc_ticks_to_ns(ticks);
    sc_ticks_start();
    interrupted = false;
    uint64_t slack_ns = 200000;
    ck_assert_uint_ge(ns + slack_ns, before_ns);
    ck_assert_uint_le(ns, after_ns + slack_ns);
    usleep(20000);
    ns = sc_ticks_to_ns(ticks);
    ck_assert_uint_ge(ns + slack_ns, before_ns);
    ck_assert_uint_le(ns, after_ns + slack_ns);
}
END_TEST

START_TEST(later_ticks_are_later)
{
    uint64_t first = sc_ticks();
    usleep(1000);
    uint64_t second = sc_ticks();
    ck_assert_uint_gt(second, first);
    ck_assert_uint_lt(sc_ticks_to_ns(first), sc_ticks_to_ns(second));
}
END_TEST

START_TEST(ticks_of_the_future_are_now)
{
    ck_assert_uint_le(sc_ticks_to_ns(UINT64_MAX), sc_now_ns());
}
END_TEST

START_TEST(spans_scale)
{
    uint64_t one = sc_ticks_in_ns(1000000);
    ck_assert_uint_gt(one, 0);
    ck_assert_uint_ge(sc_ticks_in_ns(10000000), one * 9);
    ck_assert_uint_le(sc_ticks_in_ns(10000000), one * 11);
}
END_TEST

int main(void)
{
    sc_ticks_start();
    Suite *suite = suite_create("ticks");
    TCase *tests = tcase_create("ticks");
    tcase_add_test(tests, ticks_become_the_time_they_were_taken);
    tcase_add_test(tests, a_thread_may_be_interrupted_between_the_clocks);
    tcase_add_test(tests, later_ticks_are_later);
    tcase_add_test(tests, ticks_of_the_future_are_now);
    tcase_add_test(tests, spans_scale);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
