/* links: interpose/base/unwinder_pipe.c interpose/base/object_range.c
 *
 * What libunwind is answered when it asks for a byte of memory. It asks again as long as errno is
 * EINTR, as a handler may have left it, whatever it was answered. */
#include "interpose/base/unwinder_pipe.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

START_TEST(is_there)
{
    errno = EINTR;
    ck_assert_int_eq(sc_unwinder_pipe_write("x"), 1);
    ck_assert_int_ne(errno, EINTR);
}
END_TEST

START_TEST(is_not_there)
{
    errno = EINTR;
    ck_assert_int_eq(sc_unwinder_pipe_write((const void *)8), -1);
    ck_assert_int_eq(errno, EFAULT);
}
END_TEST

START_TEST(is_empty)
{
    errno = EINTR;
    ck_assert_int_eq(sc_unwinder_pipe_read(), -1);
    ck_assert_int_eq(errno, EAGAIN);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unwinder_pipe");
    TCase *cases = tcase_create("answers");
    tcase_add_test(cases, is_there);
    tcase_add_test(cases, is_not_there);
    tcase_add_test(cases, is_empty);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
