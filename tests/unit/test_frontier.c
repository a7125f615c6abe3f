/* How far a row has come, and how many questions that takes. */
#include "track/frontier.h"

#include <check.h>
#include <stdlib.h>

struct row {
    unsigned complete;
    unsigned asked;
};

static bool is_complete(void *context, unsigned at)
{
    struct row *row = context;
    row->asked++;
    return at < row->complete;
}

static struct row find(unsigned count, unsigned complete)
{
    struct row row = {complete, 0};
    ck_assert_uint_eq(sc_frontier(count, is_complete, &row), complete);
    return row;
}

START_TEST(every_frontier_is_found)
{
    for (unsigned count = 0; count <= 70; count++)
        for (unsigned complete = 0; complete <= count; complete++)
            find(count, complete);
}
END_TEST

START_TEST(few_questions_are_asked)
{
    ck_assert_uint_eq(find(0, 0).asked, 0);
    ck_assert_uint_eq(find(1024, 0).asked, 1);
    ck_assert_uint_eq(find(1024, 1).asked, 2);
    ck_assert_uint_eq(find(1, 1).asked, 1);
    ck_assert_uint_le(find(1024, 1024).asked, 11);
    for (unsigned complete = 0; complete <= 1024; complete++)
        ck_assert_uint_le(find(1024, complete).asked, 21);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frontier");
    TCase *tests = tcase_create("frontier");
    tcase_add_test(tests, every_frontier_is_found);
    tcase_add_test(tests, few_questions_are_asked);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
