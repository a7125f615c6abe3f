/* Where buffers and streams come from: each call and stack once. */
#include "track/origins.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>

static const char allocates[] = "cuMemHostAlloc", registers[] = "cuMemHostRegister_v2";

START_TEST(nothing_is_known_of_0)
{
    ck_assert_ptr_null(sc_origins_get(0).api);
    ck_assert_uint_eq(sc_origins_get(0).stack, 0);
}
END_TEST

START_TEST(an_origin_is_what_was_put)
{
    uint32_t id = sc_origins_put(allocates, 7, 0), without_stack = sc_origins_put(registers, 0, 0);
    ck_assert_ptr_eq(sc_origins_get(id).api, allocates);
    ck_assert_uint_eq(sc_origins_get(id).stack, 7);
    ck_assert_ptr_eq(sc_origins_get(without_stack).api, registers);
    ck_assert_uint_eq(sc_origins_get(without_stack).stack, 0);
}
END_TEST

START_TEST(equal_ones_are_one_and_others_are_not)
{
    uint32_t id = sc_origins_put(allocates, 7, 0);
    ck_assert_uint_ne(id, 0);
    ck_assert_uint_eq(sc_origins_put(allocates, 7, 0), id);
    ck_assert_uint_ne(sc_origins_put(allocates, 8, 0), id);
    ck_assert_uint_ne(sc_origins_put(registers, 7, 0), id);
    uint32_t labelled = sc_origins_put(allocates, 7, 3);
    ck_assert_uint_ne(labelled, id);
    ck_assert_uint_eq(sc_origins_get(labelled).stack, 7);
    ck_assert_uint_eq(sc_origins_get(labelled).label, 3);
    ck_assert_uint_eq(sc_origins_get(id).label, 0);
}
END_TEST

enum { THREADS = 4, STACKS = 2000 };

static uint32_t ids[THREADS][STACKS];

static void *put_all(void *place)
{
    uint32_t *own = place;
    for (uint32_t i = 0; i < STACKS; i++)
        own[i] = sc_origins_put(allocates, i, 0);
    return NULL;
}

START_TEST(threads_agree_on_ids)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, put_all, ids[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < STACKS; i++) {
        ck_assert_uint_eq(sc_origins_get(ids[0][i]).stack, i);
        for (int other = 1; other < THREADS; other++)
            ck_assert_uint_eq(ids[other][i], ids[0][i]);
    }
}
END_TEST

/* Last, since it fills the depot of its process: the bound is 16 MB. */
START_TEST(too_many_are_not_known_and_the_others_stay)
{
    uint32_t first = sc_origins_put(registers, 1, 0), id = first;
    for (uint32_t i = 2; id && i < 1000000; i++)
        id = sc_origins_put(registers, i, 0);
    ck_assert_uint_eq(id, 0);
    ck_assert_uint_eq(sc_origins_put(registers, 1, 0), first);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("origins");
    TCase *group = tcase_create("origins");
    tcase_set_timeout(group, 120);
    tcase_add_test(group, nothing_is_known_of_0);
    tcase_add_test(group, an_origin_is_what_was_put);
    tcase_add_test(group, equal_ones_are_one_and_others_are_not);
    tcase_add_test(group, threads_agree_on_ids);
    tcase_add_test(group, too_many_are_not_known_and_the_others_stay);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
