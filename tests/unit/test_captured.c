/* Commands that `safecopy doctor` runs for a limited time. */
#include "report/command/doctor/captured.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG_MS = 600000, SHORT_MS = 50, TEXT_MAX = 64 * 1024 };

static struct sc_scratch scratch;
static struct sc_captured captured;

static void run(const char *script, int limit_ms)
{
    char shell[] = "sh", flag[] = "-c";
    char *words = sc_scratch_print(&scratch, "%s", script);
    char *const argv[] = {shell, flag, words, NULL};
    char path[] = "PATH=/usr/bin:/bin";
    char *const environment[] = {path, NULL};
    sc_captured_run(&captured, &scratch, "/bin/sh", argv, environment, limit_ms);
}

static void tear_down(void)
{
    sc_scratch_free(&scratch);
}

START_TEST(both_streams_and_the_status_are_taken)
{
    run("echo out; echo wrong >&2; read line || echo no stdin; exit 3", LONG_MS);
    ck_assert_str_eq(captured.output, "out\nno stdin\n");
    ck_assert_str_eq(captured.errors, "wrong\n");
    ck_assert_int_eq(WEXITSTATUS(captured.wait_status), 3);
    ck_assert(!captured.is_late);
}
END_TEST

START_TEST(own_files_need_not_be_open)
{
    int kept = dup(STDERR_FILENO);
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        close(fd);
    run("echo out; echo wrong >&2", LONG_MS);
    dup2(kept, STDERR_FILENO);
    ck_assert_str_eq(captured.output, "out\n");
    ck_assert_str_eq(captured.errors, "wrong\n");
}
END_TEST

START_TEST(a_signal_is_told)
{
    run("kill -TERM $$", LONG_MS);
    ck_assert(WIFSIGNALED(captured.wait_status));
    ck_assert_int_eq(WTERMSIG(captured.wait_status), SIGTERM);
}
END_TEST

START_TEST(who_does_not_end_is_killed)
{
    static const char *const scripts[] = {"echo begun; exec sleep 1000",
                                          "echo begun; exec sleep 1000 >/dev/null 2>&1",
                                          "echo begun; while :; do :; done"};
    run(scripts[_i], SHORT_MS);
    ck_assert(captured.is_late);
    ck_assert_int_eq(WTERMSIG(captured.wait_status), SIGKILL);
}
END_TEST

/* Or else this test would not end in Check's time. */
START_TEST(who_keeps_the_streams_is_not_waited_for)
{
    run("sleep 1000 & echo $!", LONG_MS);
    ck_assert_int_eq(WEXITSTATUS(captured.wait_status), 0);
    pid_t child = atoi(captured.output);
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
}
END_TEST

START_TEST(what_is_too_much_is_left_out)
{
    run("head -c 300000 /dev/zero | tr '\\0' x; echo end >&2", LONG_MS);
    ck_assert_uint_eq(strlen(captured.output), TEXT_MAX);
    ck_assert_str_eq(captured.errors, "end\n");
}
END_TEST

START_TEST(an_ignored_sigchld_hides_no_status)
{
    struct sigaction after;
    signal(SIGCHLD, SIG_IGN);
    run("exit 4", LONG_MS);
    ck_assert_int_eq(WEXITSTATUS(captured.wait_status), 4);
    ck_assert_int_eq(sigaction(SIGCHLD, NULL, &after), 0);
    ck_assert(after.sa_handler == SIG_IGN);
}
END_TEST

START_TEST(what_is_not_there_is_not_run)
{
    char name[] = "x";
    char *const none[] = {name, NULL};
    sc_captured_run(&captured, &scratch, "/nowhere/x", none, none, LONG_MS);
    ck_assert_int_eq(WEXITSTATUS(captured.wait_status), 127);
    ck_assert_str_eq(captured.output, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("captured");
    TCase *group = tcase_create("captured");
    tcase_set_timeout(group, 60);
    tcase_add_checked_fixture(group, NULL, tear_down);
    tcase_add_test(group, both_streams_and_the_status_are_taken);
    tcase_add_test(group, own_files_need_not_be_open);
    tcase_add_test(group, a_signal_is_told);
    tcase_add_loop_test(group, who_does_not_end_is_killed, 0, 3);
    tcase_add_test(group, who_keeps_the_streams_is_not_waited_for);
    tcase_add_test(group, what_is_too_much_is_left_out);
    tcase_add_test(group, an_ignored_sigchld_hides_no_status);
    tcase_add_test(group, what_is_not_there_is_not_run);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
