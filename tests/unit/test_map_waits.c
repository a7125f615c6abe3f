/* links: interpose/guard/map_waits.c
 *
 * Threads that wait for each other again and again are noticed when there are several of them, and
 * not forgotten. */
#include "interpose/guard/map_waits.h"

#include <check.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/base/process.h"

enum { MANY = 1000 };

__thread int32_t sc_process_thread_id;

int32_t sc_process_find_thread_id(void)
{
    static _Atomic int32_t last;
    return sc_process_thread_id = ++last;
}

/* One call in so many waits. */
static void *call(void *one_in)
{
    for (size_t i = 0; i < MANY; i++)
        sc_map_waits_note(one_in && i % *(const size_t *)one_in == 0);
    return NULL;
}

static void by_thread(const size_t *one_in)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, call, (void *)(uintptr_t)one_in), 0);
    pthread_join(thread, NULL);
}

static const size_t always = 1, often = 8, seldom = 20;

START_TEST(three_threads_that_wait_are_few_and_four_are_several)
{
    for (unsigned i = 0; i < 3; i++)
        by_thread(i ? &often : &always);
    ck_assert(!sc_map_waits_are_long());
    by_thread(&often);
    ck_assert(sc_map_waits_are_long());
}
END_TEST

START_TEST(threads_that_wait_now_and_then_do_not_count)
{
    for (unsigned i = 0; i < 16; i++)
        by_thread(i % 2 ? &seldom : NULL);
    ck_assert(!sc_map_waits_are_long());
}
END_TEST

START_TEST(one_thread_counts_once)
{
    for (unsigned i = 0; i < 16; i++)
        call((void *)(uintptr_t)&always);
    ck_assert(!sc_map_waits_are_long());
}
END_TEST

START_TEST(what_was_learnt_is_not_forgotten)
{
    for (unsigned i = 0; i < 4; i++)
        by_thread(&always);
    for (unsigned i = 0; i < 16; i++)
        by_thread(NULL);
    call(NULL);
    ck_assert(sc_map_waits_are_long());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("map waits");
    TCase *cases = tcase_create("map waits");
    tcase_add_test(cases, three_threads_that_wait_are_few_and_four_are_several);
    tcase_add_test(cases, threads_that_wait_now_and_then_do_not_count);
    tcase_add_test(cases, one_thread_counts_once);
    tcase_add_test(cases, what_was_learnt_is_not_forgotten);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
