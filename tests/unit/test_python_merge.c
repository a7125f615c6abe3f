/* links: interpose/base/python_merge.c
 *
 * Native and Python frames in one stack. The native frames of the loop are the numbers from 100 on,
 * those of its object from 50 on, words the numbers from 1000 on.
 */
#include "interpose/base/python_merge.h"

#include <check.h>
#include <stdlib.h>

#include "track/stacks.h"

enum { MANY = 200, END = 0 };

struct list {
    unsigned count;
    void *items[MANY];
};

static void add(struct list *list, uintptr_t item)
{
    list->items[list->count++] = (void *)item;
}

static struct list list_of(const uintptr_t *items, unsigned count)
{
    struct list list = {.count = 0};
    for (unsigned i = 0; i < count; i++)
        add(&list, items[i]);
    return list;
}

#define LIST(...)                                                                                  \
    list_of((const uintptr_t[]){__VA_ARGS__},                                                      \
            sizeof((const uintptr_t[]){__VA_ARGS__}) / sizeof(uintptr_t))

static struct list merge_of(const struct list *natives, const struct list *words)
{
    struct list merged;
    struct sc_python_merge merge = {.natives = natives->items,
                                    .native_count = natives->count,
                                    .words = words->items,
                                    .word_count = words->count,
                                    .loop = {99, 199},
                                    .object = {49, 499}};
    merged.count = sc_python_merge_stacks(&merge, merged.items);
    return merged;
}

static void check_merge(struct list natives, struct list words, struct list expected)
{
    struct list merged = merge_of(&natives, &words);
    ck_assert_uint_eq(merged.count, expected.count);
    for (unsigned i = 0; i < merged.count; i++)
        ck_assert_ptr_eq(merged.items[i], expected.items[i]);
}

START_TEST(python_frames_stand_in_the_place_of_the_loop)
{
    check_merge(LIST(1, 2, 100, 50, 101, 3), LIST(1000, 1001, END, 1002, END),
                LIST(1, 2, 1000, 1001, 50, 1002, 3));
}
END_TEST

START_TEST(a_loop_that_runs_none_stays)
{
    check_merge(LIST(1, 100, 50, 101, 3), LIST(END, 1000, END), LIST(1, 100, 50, 1000, 3));
    check_merge(LIST(1, 100, 101, 3), LIST(1000, END), LIST(1, 1000, 101, 3));
}
END_TEST

START_TEST(frames_that_no_loop_is_seen_of_come_last)
{
    check_merge(LIST(1, 100, 50), LIST(1000, END, 1001, END, 1002), LIST(1, 1000, 50, 1001, 1002));
}
END_TEST

START_TEST(without_a_loop_they_stand_before_the_interpreter)
{
    check_merge(LIST(1, 2, 50, 51, 3), LIST(1000, END, 1001, END),
                LIST(1, 2, 1000, 1001, 50, 51, 3));
    check_merge(LIST(50, 51, 3), LIST(1000, END), LIST(50, 1000, 51, 3));
    check_merge(LIST(1, 2), LIST(1000, END), LIST(1, 2, 1000));
    check_merge(LIST(1), LIST(1000), LIST(1, 1000));
}
END_TEST

START_TEST(the_innermost_native_frame_stays)
{
    check_merge(LIST(100, 50, 101), LIST(1000, END, 1001, END), LIST(100, 1000, 50, 1001));
}
END_TEST

START_TEST(long_stacks_keep_the_innermost_of_both)
{
    struct list natives = {.count = 0}, words = {.count = 0};
    for (unsigned i = 0; i < MANY; i++)
        add(&words, 1000 + i);
    for (unsigned i = 0; i < SC_STACK_DEPTH_MAX; i++)
        add(&natives, 1 + i % 40);
    struct list merged = merge_of(&natives, &words);
    ck_assert_uint_eq(merged.count, SC_STACK_DEPTH_MAX);
    ck_assert_ptr_eq(merged.items[0], (void *)1);
    ck_assert_ptr_eq(merged.items[48], (void *)1000);
    ck_assert_ptr_eq(merged.items[63], (void *)1015);
    natives.items[60] = (void *)100; /* the loop, far out */
    merged = merge_of(&natives, &words);
    ck_assert_ptr_eq(merged.items[47], natives.items[47]);
    ck_assert_ptr_eq(merged.items[48], (void *)1000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("python_merge");
    TCase *group = tcase_create("python_merge");
    tcase_add_test(group, python_frames_stand_in_the_place_of_the_loop);
    tcase_add_test(group, a_loop_that_runs_none_stays);
    tcase_add_test(group, frames_that_no_loop_is_seen_of_come_last);
    tcase_add_test(group, without_a_loop_they_stand_before_the_interpreter);
    tcase_add_test(group, the_innermost_native_frame_stays);
    tcase_add_test(group, long_stacks_keep_the_innermost_of_both);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
