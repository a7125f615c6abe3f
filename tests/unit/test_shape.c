/* Shapes of copies: their runs, and how many bytes lie where, held against every byte counted. */
#include "common/shape.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { BASE = 1000, BYTES = 400 };

static const struct sc_fold plain;

/* How often the shape has each byte from BASE on, and where a packed copy has it. */
static unsigned times[BYTES];
static size_t packed[BYTES];

static size_t draw(const struct sc_shape *shape, const struct sc_fold *fold)
{
    size_t at = 0;
    size_t width = fold->pitch_bytes ? fold->width_bytes : shape->width_bytes;
    size_t pitch = fold->pitch_bytes ? fold->pitch_bytes : shape->width_bytes;
    memset(times, 0, sizeof times);
    for (size_t row = 0; row < shape->rows; row++)
        for (size_t inner = 0; inner < shape->width_bytes; inner += pitch)
            for (size_t byte = 0; byte < width; byte++) {
                size_t place = shape->address - BASE + row * shape->pitch_bytes + inner + byte;
                if (place >= BYTES)
                    ck_abort();
                times[place]++;
                packed[place] = at++;
            }
    return at;
}

static void check_between(const struct sc_shape *shape, const struct sc_fold *fold, size_t from,
                          size_t to)
{
    struct sc_runs runs = sc_shape_runs_between(shape, fold, BASE + from, BASE + to);
    struct sc_run run;
    size_t bytes = 0, expected = 0;
    uintptr_t end = 0;
    for (size_t i = from; i < to; i++)
        expected += times[i];
    while (sc_shape_next_run(&runs, &run)) {
        ck_assert_uint_ge(run.address, end);
        bool right = true;
        for (size_t i = 0; i < run.size_bytes; i++) {
            size_t place = run.address - BASE + i;
            right = right && place >= from && place < to && times[place] == 1 &&
                    packed[place] == run.before_bytes + i;
        }
        ck_assert(right);
        end = run.address + run.size_bytes;
        bytes += run.size_bytes;
    }
    ck_assert_uint_eq(bytes, expected);
    ck_assert_uint_eq(sc_shape_used_between(shape, fold, BASE + from, BASE + to), expected);
}

static void check(const struct sc_shape *shape, const struct sc_fold *fold)
{
    size_t all = draw(shape, fold);
    ck_assert_uint_eq(sc_shape_used_bytes(shape, fold), all);
    check_between(shape, fold, 0, BYTES);
    for (unsigned i = 0; i < 40; i++) {
        size_t from = (size_t)rand() % BYTES;
        check_between(shape, fold, from, from + (size_t)rand() % (BYTES - from + 1));
    }
}

static size_t any(size_t least, size_t most)
{
    return least + (size_t)rand() % (most - least + 1);
}

START_TEST(plain_copies_are_one_run)
{
    const struct sc_shape shape = {BASE + 5, 40, 40, 1};
    struct sc_runs runs = sc_shape_runs(&shape, &plain);
    struct sc_run run;
    ck_assert(sc_shape_next_run(&runs, &run));
    ck_assert(run.address == BASE + 5 && run.size_bytes == 40 && run.before_bytes == 0);
    ck_assert(!sc_shape_next_run(&runs, &run));
    ck_assert(sc_shape_is_whole(&shape, &plain));
    check(&shape, &plain);
}
END_TEST

START_TEST(rows_that_adjoin_are_one_run)
{
    const struct sc_shape shape = {BASE, 8, 8, 10};
    struct sc_runs runs = sc_shape_runs(&shape, &plain);
    struct sc_run run;
    ck_assert(sc_shape_next_run(&runs, &run));
    ck_assert_uint_eq(run.size_bytes, 80);
    ck_assert(!sc_shape_next_run(&runs, &run));
    ck_assert(sc_shape_is_whole(&shape, &plain));
    check(&shape, &plain);
}
END_TEST

START_TEST(empty_shapes_have_no_run)
{
    const struct sc_shape none[] = {{BASE, 0, 8, 10}, {BASE, 8, 8, 0}, {BASE, 8, 16, 0}};
    for (unsigned i = 0; i < sizeof none / sizeof *none; i++) {
        struct sc_runs runs = sc_shape_runs(&none[i], &plain);
        struct sc_run run;
        ck_assert(!sc_shape_next_run(&runs, &run));
        ck_assert_uint_eq(sc_shape_used_bytes(&none[i], &plain), 0);
    }
}
END_TEST

START_TEST(rows_with_gaps)
{
    for (unsigned i = 0; i < 100; i++) {
        size_t rows = any(1, 12), pitch = any(1, 30), width = any(1, pitch);
        const struct sc_shape shape = {BASE + any(0, 20), width, pitch, rows};
        ck_assert(sc_shape_rows_are_apart(&shape, &plain));
        ck_assert(sc_shape_is_whole(&shape, &plain) == (rows == 1 || width == pitch));
        check(&shape, &plain);
    }
}
END_TEST

START_TEST(slices_of_rows_with_gaps)
{
    for (unsigned i = 0; i < 100; i++) {
        size_t pitch = any(2, 12), width = any(1, pitch - 1);
        size_t height = any(2, 5), slices = any(1, 4);
        size_t hull = (height - 1) * pitch + width;
        const struct sc_shape shape = {BASE + any(0, 20), hull, any(hull, hull + 20), slices};
        const struct sc_fold fold = {width, pitch};
        ck_assert(sc_shape_rows_are_apart(&shape, &fold));
        ck_assert(!sc_shape_is_whole(&shape, &fold));
        check(&shape, &fold);
    }
}
END_TEST

START_TEST(rows_that_overlap_are_not_apart)
{
    const struct sc_shape rows = {BASE, 20, 10, 3};
    const struct sc_shape slices = {BASE, 50, 40, 3};
    const struct sc_fold inner = {20, 10};
    ck_assert(!sc_shape_rows_are_apart(&rows, &plain));
    ck_assert(!sc_shape_rows_are_apart(&slices, &plain));
    ck_assert(!sc_shape_rows_are_apart(&(struct sc_shape){BASE, 40, 40, 1}, &inner));
    ck_assert_uint_eq(sc_shape_used_between(&rows, &plain, BASE + 30, BASE + 40), 10);
}
END_TEST

int main(void)
{
    TCase *group = tcase_create("shape");
    Suite *suite = suite_create("shape");
    srand(1);
    tcase_add_test(group, plain_copies_are_one_run);
    tcase_add_test(group, rows_that_adjoin_are_one_run);
    tcase_add_test(group, empty_shapes_have_no_run);
    tcase_add_test(group, rows_with_gaps);
    tcase_add_test(group, slices_of_rows_with_gaps);
    tcase_add_test(group, rows_that_overlap_are_not_apart);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
