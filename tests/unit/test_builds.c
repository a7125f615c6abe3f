/* Which build of each module ran, and where two builds cannot be compared. */
#include "report/command/builds.h"
#include "report/command/namings.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists of modules ---- */

static struct sc_builds_list list;

static void set_up_list(void)
{
    list = (struct sc_builds_list){0};
}

static void tear_down_list(void)
{
    sc_builds_free(&list);
}

/* A run with one module. */
static const struct sc_builds *run_of(const char *path, const char *build_id)
{
    sc_builds_note(&list, path, build_id);
    return sc_builds_end_run(&list);
}

START_TEST(runs_that_agree_share_builds)
{
    const struct sc_builds *first = run_of("/train", "aa");
    sc_builds_note(&list, "/late.so", "bb");
    ck_assert_ptr_eq(run_of("/train", "aa"), first);
    ck_assert_str_eq(sc_builds_find(first, "/train"), "aa");
    ck_assert_str_eq(sc_builds_find(first, "/late.so"), "bb");
    ck_assert_ptr_null(sc_builds_find(first, "/other"));
}
END_TEST

START_TEST(other_builds_are_apart)
{
    const struct sc_builds *first = run_of("/train", "aa"), *second = run_of("/train", "bb");
    ck_assert_uint_ne(first->number, second->number);
    ck_assert_str_eq(sc_builds_find(first, "/train"), "aa");
    ck_assert_str_eq(sc_builds_find(second, "/train"), "bb");
    ck_assert_ptr_eq(run_of("/train", "aa"), first);
    ck_assert_ptr_eq(run_of("/train", "bb"), second);
    const struct sc_builds *none = run_of("/train", "");
    ck_assert_ptr_ne(none, first);
    ck_assert_str_eq(sc_builds_find(none, "/train"), "");
}
END_TEST

/* A plugin that was built anew while the process ran. */
START_TEST(two_builds_in_one_run_are_neither)
{
    sc_builds_note(&list, "/plugin.so", "aa");
    sc_builds_note(&list, "/plugin.so", "bb");
    const struct sc_builds *both = run_of("/plugin.so", "aa");
    ck_assert_ptr_ne(run_of("/plugin.so", "aa"), both);
    ck_assert_ptr_ne(run_of("/plugin.so", "bb"), both);
    ck_assert_str_eq(sc_builds_find(both, "/plugin.so"), "aa+bb");
}
END_TEST

/* A process that was killed has not listed what it had loaded last. */
START_TEST(what_is_not_listed_is_not_known)
{
    sc_builds_note_use(&list, "/plugin.so");
    const struct sc_builds *killed = run_of("/train", "aa");
    sc_builds_note_use(&list, "/plugin.so");
    sc_builds_note(&list, "/plugin.so", "bb");
    const struct sc_builds *whole = run_of("/train", "aa");
    ck_assert_ptr_ne(whole, killed);
    ck_assert_ptr_null(sc_builds_find(killed, "/plugin.so"));
    ck_assert_str_eq(sc_builds_find(whole, "/plugin.so"), "bb");
    ck_assert_ptr_null(sc_builds_find(NULL, "/plugin.so"));
}
END_TEST

START_TEST(a_run_without_modules_has_no_builds)
{
    run_of("/train", "aa");
    ck_assert_ptr_null(sc_builds_end_run(&list));
    ck_assert_uint_eq(sc_builds_number(NULL), 0);
}
END_TEST

/* Runs are compared with the last builds only: no report makes that take long. */
START_TEST(many_builds_are_told_apart)
{
    char id[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(id, sizeof id, "%04x", i);
        ck_assert_str_eq(sc_builds_find(run_of("/train", id), "/train"), id);
    }
    ck_assert_uint_eq(list.count, 1000);
    ck_assert_str_eq(sc_builds_find(run_of("/train", "0000"), "/train"), "0000");
}
END_TEST

/* ---- what is compared ---- */

static struct sc_namings old, new;

static void set_up_namings(void)
{
    old = new = (struct sc_namings){0};
}

static void tear_down_namings(void)
{
    sc_namings_free(&old);
    sc_namings_free(&new);
}

/* By what: n(ames), g(uesses), o(ffsets). */
static void note(struct sc_namings *namings, const char *path, const char *id, const char *by)
{
    struct sc_naming *naming = sc_namings_find(namings, path, id);
    ck_assert_ptr_nonnull(naming);
    naming->has_names = naming->has_names || strchr(by, 'n');
    naming->has_guesses = naming->has_guesses || strchr(by, 'g');
    naming->has_offsets = naming->has_offsets || strchr(by, 'o');
}

static size_t count_open(void)
{
    size_t count = 0;
    free(sc_namings_compare(&old, &new, &count));
    return count;
}

static const struct {
    const char *old_id, *old_by, *new_id, *new_by;
    bool is_open, is_without_id;
} rows[] = {
    {"aa", "n", "bb", "n", false, false},
    {"aa", "o", "bb", "n", true, false},
    {"aa", "n", "bb", "o", true, false},
    {"aa", "no", "bb", "n", true, false},
    {"aa", "", "bb", "o", false, false}, /* no hazard is in it */
    {"aa", "o", "bb", "", false, false},
    {"aa", "o", "aa", "o", false, false},
    {"aa", "no", "aa", "n", false, false}, /* the file has names for some */
    {"aa", "n", "aa", "no", false, false},
    {"aa", "o", "aa", "n", true, false}, /* the file was there for one side */
    {"aa", "n", "aa", "o", true, false},
    {"aa", "o", "", "n", true, false},
    {"", "n", "", "n", false, false},
    {"", "n", "", "g", false, false}, /* what ran last is there */
    {"", "g", "", "n", true, true},
    {"", "o", "", "o", true, true},
    {NULL, "o", NULL, "o", true, true},
    {NULL, "o", "bb", "n", true, false},
};

START_TEST(offsets_are_of_one_build)
{
    size_t count = 0;
    note(&old, "/old/train", rows[_i].old_id, rows[_i].old_by);
    note(&new, "/new/train", rows[_i].new_id, rows[_i].new_by);
    struct sc_open_module *open = sc_namings_compare(&old, &new, &count);
    ck_assert_uint_eq(count, rows[_i].is_open);
    if (count > 0) {
        struct sc_scratch scratch = {0};
        const char *words = sc_namings_open_words(&scratch, open);
        ck_assert_int_eq(sc_namings_lack_id(open), rows[_i].is_without_id);
        ck_assert_ptr_eq(strstr(words, "/new/train "), words);
        ck_assert_ptr_nonnull(
            strstr(words, rows[_i].is_without_id ? "-Wl,--build-id" : "--debug-dir"));
        sc_scratch_free(&scratch);
    }
    free(open);
}
END_TEST

START_TEST(modules_are_known_by_their_names)
{
    note(&old, "/old/train", "aa", "o");
    note(&old, "/old/loader.so", "cc", "o");
    note(&new, "/new/train", "bb", "n");
    note(&new, "/new/model.so", "dd", "o");
    ck_assert_uint_eq(count_open(), 1);
    note(&new, "/elsewhere/loader.so", "cc", "o");
    ck_assert_uint_eq(count_open(), 1);
    note(&new, "/elsewhere/loader.so", "ee", "n");
    ck_assert_uint_eq(count_open(), 2);
}
END_TEST

START_TEST(builds_beyond_many_are_one)
{
    char id[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(id, sizeof id, "%04x", i);
        note(&old, "/train", id, "n");
    }
    ck_assert_uint_le(old.first->count, 100);
    ck_assert_ptr_null(old.first->builds->build_id);
    note(&new, "/train", "ffff", "n");
    ck_assert_uint_eq(count_open(), 0);
    note(&old, "/train", "1000", "o");
    ck_assert_uint_eq(count_open(), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("builds");
    TCase *lists = tcase_create("lists"), *namings = tcase_create("namings");
    tcase_add_checked_fixture(lists, set_up_list, tear_down_list);
    tcase_add_test(lists, runs_that_agree_share_builds);
    tcase_add_test(lists, other_builds_are_apart);
    tcase_add_test(lists, two_builds_in_one_run_are_neither);
    tcase_add_test(lists, what_is_not_listed_is_not_known);
    tcase_add_test(lists, a_run_without_modules_has_no_builds);
    tcase_add_test(lists, many_builds_are_told_apart);
    tcase_add_checked_fixture(namings, set_up_namings, tear_down_namings);
    tcase_add_loop_test(namings, offsets_are_of_one_build, 0, sizeof rows / sizeof rows[0]);
    tcase_add_test(namings, modules_are_known_by_their_names);
    tcase_add_test(namings, builds_beyond_many_are_one);
    suite_add_tcase(suite, lists);
    suite_add_tcase(suite, namings);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
