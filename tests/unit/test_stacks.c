/* The stack depot: each stack once, from any number of threads. */
#include "track/closed_modules.h"
#include "track/stacks.h"

#include <check.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *frames[2 * SC_STACK_DEPTH_MAX];

/* Invented return addresses that differ from seed to seed. */
static void make_frames(uintptr_t seed, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        frames[i] = (void *)(0x400000 + seed * 16 + i * 0x1000);
}

static void check_stack(uint32_t id, void *const *expected, unsigned count)
{
    void *const *stored = NULL;
    if (sc_stacks_get(id, &stored) != count ||
        memcmp(stored, expected, count * sizeof *expected) != 0)
        ck_abort_msg("stack %u", id);
}

START_TEST(no_stack_has_the_id_0)
{
    void *const *stored = NULL;
    ck_assert_uint_eq(sc_stacks_put(frames, 0), 0);
    ck_assert_uint_eq(sc_stacks_get(0, &stored), 0);
}
END_TEST

START_TEST(an_equal_stack_has_the_same_id)
{
    make_frames(1, 10);
    uint32_t id = sc_stacks_put(frames, 10);
    ck_assert_uint_ne(id, 0);
    check_stack(id, frames, 10);
    void *copy[10];
    memcpy(copy, frames, sizeof copy);
    frames[0] = NULL;
    ck_assert_uint_eq(sc_stacks_put(copy, 10), id);
    check_stack(id, copy, 10);
}
END_TEST

START_TEST(a_difference_anywhere_makes_another_stack)
{
    uint32_t ids[12];
    for (unsigned i = 0; i < 10; i++) {
        make_frames(2, 10);
        frames[i] = frames; /* one frame is another */
        ids[i] = sc_stacks_put(frames, 10);
    }
    make_frames(2, 10);
    ids[10] = sc_stacks_put(frames, 10);
    ids[11] = sc_stacks_put(frames, 9); /* a prefix */
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < i; j++)
            ck_assert_uint_ne(ids[i], ids[j]);
}
END_TEST

START_TEST(a_stack_that_is_too_deep_is_cut)
{
    make_frames(3, 2 * SC_STACK_DEPTH_MAX);
    uint32_t id = sc_stacks_put(frames, 2 * SC_STACK_DEPTH_MAX);
    check_stack(id, frames, SC_STACK_DEPTH_MAX);
    ck_assert_uint_eq(sc_stacks_put(frames, SC_STACK_DEPTH_MAX), id);
    ck_assert_uint_ne(sc_stacks_put(frames, SC_STACK_DEPTH_MAX - 1), id);
}
END_TEST

START_TEST(many_stacks_over_several_chunks_keep_their_frames)
{
    enum { COUNT = 30000 };
    static uint32_t ids[COUNT];
    void *const *first = NULL;
    for (unsigned i = 0; i < COUNT; i++) {
        make_frames(100 + i, 1 + i % 40);
        ids[i] = sc_stacks_put(frames, 1 + i % 40);
        if (i == 0)
            sc_stacks_get(ids[0], &first);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        make_frames(100 + i, 1 + i % 40);
        check_stack(ids[i], frames, 1 + i % 40);
        if (sc_stacks_put(frames, 1 + i % 40) != ids[i])
            ck_abort_msg("stack %u has another id", ids[i]);
    }
    void *const *still = NULL;
    sc_stacks_get(ids[0], &still);
    ck_assert_ptr_eq(still, first);
}
END_TEST

enum { THREADS = 4, SHARED = 20000 };
static uint32_t ids_of[THREADS][SHARED];

static void *put_all(void *argument)
{
    uint32_t *ids = argument;
    void *own[3];
    for (uintptr_t i = 0; i < SHARED; i++) {
        for (uintptr_t j = 0; j < 3; j++)
            own[j] = (void *)(0x10000000 + i * 64 + j);
        ids[i] = sc_stacks_put(own, 3);
    }
    return NULL;
}

START_TEST(threads_agree_on_ids)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, put_all, ids_of[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (uintptr_t i = 0; i < SHARED; i++) {
        void *const *stored = NULL;
        for (int thread = 1; thread < THREADS; thread++)
            if (ids_of[thread][i] != ids_of[0][i])
                ck_abort_msg("thread %d has another id", thread);
        if (sc_stacks_get(ids_of[0][i], &stored) != 3 ||
            stored[2] != (void *)(0x10000000 + i * 64 + 2))
            ck_abort_msg("stack %u", ids_of[0][i]);
    }
}
END_TEST

START_TEST(frames_of_a_closed_module_keep_its_name)
{
    void *const words[] = {(void *)0x500010, (void *)0x700000, (void *)0x4fffff};
    void *const *named = NULL;
    const char *path = NULL;
    uintptr_t offset = 0;
    uint32_t id = sc_stacks_put(words, 3);
    sc_closed_modules_note("/lib/elsewhere.so", 0x600000, 0x610000);
    ck_assert_uint_eq(sc_stacks_put(words, 3), id);
    sc_closed_modules_note("/lib/closed.so", 0x500000, 0x510000);
    ck_assert_uint_eq(sc_stacks_get(id, &named), 3);
    ck_assert(sc_closed_modules_frame(named[0], &path, &offset));
    ck_assert_str_eq(path, "/lib/closed.so");
    ck_assert_uint_eq(offset, 0x10);
    ck_assert_ptr_eq(named[1], words[1]);
    ck_assert_ptr_eq(named[2], words[2]);
    ck_assert(!sc_closed_modules_frame(words[0], &path, &offset));
    uint32_t other = sc_stacks_put(words, 3); /* of the module that is there now */
    ck_assert_uint_ne(other, id);
    sc_closed_modules_note("/lib/other.so", 0x500000, 0x510000);
    sc_stacks_get(other, &named);
    ck_assert(sc_closed_modules_frame(named[0], &path, &offset));
    ck_assert_str_eq(path, "/lib/other.so");
}
END_TEST

/* Last, since it fills the depot of its process: the bound is 256 MB. */
START_TEST(a_full_depot_says_so_and_keeps_what_it_has)
{
    make_frames(5, SC_STACK_DEPTH_MAX);
    uint32_t first = sc_stacks_put(frames, SC_STACK_DEPTH_MAX);
    uint32_t id = first;
    for (uintptr_t i = 1; id && i < 600000; i++) {
        frames[0] = (void *)i;
        frames[1] = (void *)(i * 0x9E3779B97F4A7C15u);
        id = sc_stacks_put(frames, SC_STACK_DEPTH_MAX);
    }
    ck_assert_uint_eq(id, 0);
    make_frames(5, SC_STACK_DEPTH_MAX);
    ck_assert_uint_eq(sc_stacks_put(frames, SC_STACK_DEPTH_MAX), first);
    check_stack(first, frames, SC_STACK_DEPTH_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stacks");
    TCase *group = tcase_create("stacks");
    tcase_set_timeout(group, 120);
    tcase_add_test(group, no_stack_has_the_id_0);
    tcase_add_test(group, an_equal_stack_has_the_same_id);
    tcase_add_test(group, a_difference_anywhere_makes_another_stack);
    tcase_add_test(group, a_stack_that_is_too_deep_is_cut);
    tcase_add_test(group, many_stacks_over_several_chunks_keep_their_frames);
    tcase_add_test(group, threads_agree_on_ids);
    tcase_add_test(group, frames_of_a_closed_module_keep_its_name);
    tcase_add_test(group, a_full_depot_says_so_and_keeps_what_it_has);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
