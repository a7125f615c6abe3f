/* Lines from the tables of CPython's code objects, as 3.9, 3.10 and 3.12 made them of one function.
 */
#include "common/python_lines.h"

#include <check.h>
#include <stdlib.h>

struct row {
    uint32_t offset;
    int32_t line;
};

static void check_rows(const struct sc_python_lines *lines, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(sc_python_lines_find(lines, rows[i].offset), rows[i].line);
}

#define LINES(kind, bytes)                                                                         \
    {                                                                                              \
        .format = kind, .first_line = 1, .table = bytes, .table_bytes = sizeof bytes               \
    }

/* a = x, a sum over three lines, a loop, and a tuple over two lines */
static const uint8_t lnotab[] = {0, 1, 4, 1, 2, 2, 2, 254, 4, 3, 12, 1, 10, 2, 2, 1, 2, 255};
static const uint8_t linetable[] = {4, 1, 2, 1, 2, 2, 4, 254, 12, 3, 10, 1, 2, 2, 2, 1, 4, 255};
static const uint8_t locations[] = {
    128, 0,   216, 8,   9,   128, 65, 216, 9,   10,  224, 9,   10,  241, 5, 2,  10,
    11,  128, 65,  244, 6,   0,   14, 19,  144, 49,  139, 88,  242, 0,   1, 5,  15,
    136, 1,   216, 8,   9,   136, 81, 137, 6,   137, 1,   240, 3,   1,   5, 15, 240,
    6,   0,   13,  14,  216, 12,  13, 240, 3,   1,   12,  15,  240, 0,   1, 5,  15};

START_TEST(lnotab_of_3_9)
{
    struct sc_python_lines lines = LINES(SC_PYTHON_LNOTAB, lnotab);
    static const struct row rows[] = {{0, 2},  {4, 3},  {6, 5},  {8, 3},   {12, 6},
                                      {22, 6}, {24, 7}, {34, 9}, {36, 10}, {38, 9}};
    check_rows(&lines, rows, sizeof rows / sizeof rows[0]);
}
END_TEST

START_TEST(linetable_of_3_10)
{
    struct sc_python_lines lines = LINES(SC_PYTHON_LINETABLE, linetable);
    static const struct row rows[] = {{0, 2},  {4, 3},  {6, 5},   {8, 3},  {12, 6}, {22, 6},
                                      {24, 7}, {34, 9}, {36, 10}, {38, 9}, {42, 0}};
    check_rows(&lines, rows, sizeof rows / sizeof rows[0]);
}
END_TEST

START_TEST(locations_since_3_11)
{
    struct sc_python_lines lines = LINES(SC_PYTHON_LOCATIONS, locations);
    static const struct row rows[] = {{0, 1},  {2, 2},  {6, 3},  {8, 5},   {10, 3}, {16, 6},
                                      {44, 7}, {56, 6}, {58, 9}, {60, 10}, {64, 9}, {66, 0}};
    check_rows(&lines, rows, sizeof rows / sizeof rows[0]);
}
END_TEST

START_TEST(instructions_without_a_line)
{
    static const uint8_t ranges[] = {4, 1, 2, 128, 2, 1};
    static const uint8_t none[] = {0x80 | 13 << 3, 2, 0x80 | 15 << 3, 0x80 | 13 << 3, 4};
    struct sc_python_lines old = LINES(SC_PYTHON_LINETABLE, ranges);
    struct sc_python_lines new = LINES(SC_PYTHON_LOCATIONS, none);
    static const struct row of_ranges[] = {{2, 2}, {4, 0}, {6, 3}};
    static const struct row of_none[] = {{0, 2}, {2, 0}, {4, 4}};
    check_rows(&old, of_ranges, 3);
    check_rows(&new, of_none, 3);
}
END_TEST

START_TEST(what_is_cut_or_absurd_has_no_line)
{
    static const uint8_t far[] = {0x80 | 13 << 3, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F};
    static const uint8_t back[] = {0x80 | 13 << 3, 63};
    static const uint8_t cut[] = {0x80 | 14 << 3};
    struct sc_python_lines lines = LINES(SC_PYTHON_LOCATIONS, far);
    ck_assert_int_eq(sc_python_lines_find(&lines, 0), 0);
    lines = (struct sc_python_lines)LINES(SC_PYTHON_LOCATIONS, back);
    ck_assert_int_eq(sc_python_lines_find(&lines, 0), 0);
    lines = (struct sc_python_lines)LINES(SC_PYTHON_LOCATIONS, cut);
    ck_assert_int_eq(sc_python_lines_find(&lines, 0), 1);
    lines.table_bytes = 0;
    ck_assert_int_eq(sc_python_lines_find(&lines, 0), 0);
    lines.format = SC_PYTHON_LINETABLE;
    ck_assert_int_eq(sc_python_lines_find(&lines, 0), 0);
    lines.format = SC_PYTHON_LNOTAB;
    ck_assert_int_eq(sc_python_lines_find(&lines, 1000), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("python_lines");
    TCase *group = tcase_create("python_lines");
    tcase_add_test(group, lnotab_of_3_9);
    tcase_add_test(group, linetable_of_3_10);
    tcase_add_test(group, locations_since_3_11);
    tcase_add_test(group, instructions_without_a_line);
    tcase_add_test(group, what_is_cut_or_absurd_has_no_line);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
