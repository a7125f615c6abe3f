/* What a process is told that asks for a userfaultfd, under filters and limits of all kinds. Each
 * test is a process of its own.
 * not-under: qemu memcheck thread (which know no userfaultfd)
 */
#include "report/userfaultfd.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static _Atomic int handled;

static void handle(int signal)
{
    (void)signal;
    atomic_fetch_add(&handled, 1);
}

/* What the call with that number is answered with, from now on. */
static bool put_filter(long number, unsigned action)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static enum sc_userfaultfd_state ask(void)
{
    enum sc_userfaultfd_state state = SC_USERFAULTFD_UNASKED;
    errno = EXDEV;
    int opened = sc_userfaultfd_open(&state);
    ck_assert_int_eq(errno, EXDEV);
    ck_assert_int_eq(opened >= 0, state == SC_USERFAULTFD_OPENED);
    if (opened >= 0)
        close(opened);
    return state;
}

/* False: this machine has none, whatever a filter says. */
static bool is_to_be_had(void)
{
    enum sc_userfaultfd_state state = ask();
    ck_assert_int_ne(state, SC_USERFAULTFD_UNASKED);
    if (state != SC_USERFAULTFD_OPENED)
        printf("no userfaultfd here, not tested: %s\n", sc_userfaultfd_words(state));
    return state == SC_USERFAULTFD_OPENED;
}

static bool opens_by_file(void)
{
    int file = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
    if (file >= 0)
        close(file);
    return file >= 0;
}

/* A user who may not open the file. */
static void be_nobody(void)
{
    if (opens_by_file())
        ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
    if (opens_by_file())
        exit(0); /* everybody may */
}

static const struct {
    long number;
    unsigned action;
    enum sc_userfaultfd_state state;
} filters[] = {
    {9999, SECCOMP_RET_ERRNO | EPERM, SC_USERFAULTFD_OPENED},
    {SYS_userfaultfd, SECCOMP_RET_ERRNO | EPERM, SC_USERFAULTFD_FILTERED},
    {SYS_userfaultfd, SECCOMP_RET_ERRNO | ENOSYS, SC_USERFAULTFD_FILTERED},
    {SYS_userfaultfd, SECCOMP_RET_KILL_PROCESS, SC_USERFAULTFD_KILLED},
    {SYS_userfaultfd, SECCOMP_RET_KILL_THREAD, SC_USERFAULTFD_KILLED},
    {SYS_userfaultfd, SECCOMP_RET_TRAP, SC_USERFAULTFD_KILLED},
    {SYS_close_range, SECCOMP_RET_KILL_PROCESS, SC_USERFAULTFD_KILLED},
};

START_TEST(a_filter_is_asked_in_a_child)
{
    int status;
    if (!is_to_be_had())
        return;
    be_nobody();
    signal(SIGSYS, handle);
    signal(SIGCHLD, handle);
    if (!put_filter(filters[_i].number, filters[_i].action))
        return;
    ck_assert_int_eq(ask(), filters[_i].state);
    ck_assert_int_eq(ask(), filters[_i].state);
    ck_assert_int_eq(atomic_load(&handled), 0);
    ck_assert_int_eq(waitpid(-1, &status, __WALL), -1);
    ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* No child, no answer; nor for a sanitizer that looks for leaks at the end. */
START_TEST(who_cannot_ask_in_a_child_does_without)
{
    if (!is_to_be_had())
        return;
    be_nobody();
    if (put_filter(SYS_clone, SECCOMP_RET_ERRNO | EAGAIN) &&
        put_filter(SYS_userfaultfd, SECCOMP_RET_KILL_PROCESS)) {
        ck_assert_int_eq(ask(), SC_USERFAULTFD_KILLED);
        _exit(0);
    }
}
END_TEST

START_TEST(a_child_that_is_killed_leaves_no_core)
{
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    char folder[] = "/tmp/userfaultfd-XXXXXX";
    if (!is_to_be_had() || setrlimit(RLIMIT_CORE, &all) != 0)
        return;
    ck_assert(mkdtemp(folder) && chdir(folder) == 0);
    if (put_filter(SYS_userfaultfd, SECCOMP_RET_KILL_PROCESS))
        ck_assert_int_eq(ask(), SC_USERFAULTFD_KILLED);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(folder), 0); /* it is empty */
}
END_TEST

START_TEST(the_file_serves_where_a_filter_refuses_the_call)
{
    if (!is_to_be_had() || !opens_by_file() ||
        !put_filter(SYS_userfaultfd, SECCOMP_RET_ERRNO | EPERM))
        return;
    ck_assert_int_eq(ask(), SC_USERFAULTFD_OPENED);
}
END_TEST

/* One that fails as by a kernel which does not know the flag, and one that lacks a feature. */
START_TEST(an_older_kernel)
{
    if (!is_to_be_had())
        return;
    be_nobody();
    if (put_filter(SYS_userfaultfd, SECCOMP_RET_ERRNO | EINVAL))
        ck_assert_int_eq(ask(), SC_USERFAULTFD_OLD_KERNEL);
}
END_TEST

/* The limit of descriptors is lifted again: a sanitizer looks for leaks at the end. */
START_TEST(limits)
{
    const struct rlimit space = {(rlim_t)1 << 50, (rlim_t)1 << 50};
    struct rlimit files, few;
    if (!is_to_be_had())
        return;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    few = (struct rlimit){3, files.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    ck_assert_int_eq(ask(), SC_USERFAULTFD_NO_DESCRIPTOR);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &space), 0);
    ck_assert_int_eq(ask(), SC_USERFAULTFD_ADDRESS_LIMIT);
}
END_TEST

START_TEST(names_differ)
{
    for (int i = 0; i < SC_USERFAULTFD_STATE_COUNT; i++)
        for (int other = 0; other < i; other++) {
            enum sc_userfaultfd_state a = (enum sc_userfaultfd_state)i;
            enum sc_userfaultfd_state b = (enum sc_userfaultfd_state)other;
            ck_assert_str_ne(sc_userfaultfd_name(a), sc_userfaultfd_name(b));
            ck_assert_str_ne(sc_userfaultfd_words(a), sc_userfaultfd_words(b));
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("userfaultfd");
    TCase *group = tcase_create("all");
    tcase_add_loop_test(group, a_filter_is_asked_in_a_child, 0,
                        (int)(sizeof filters / sizeof filters[0]));
    tcase_add_exit_test(group, who_cannot_ask_in_a_child_does_without, 0);
    tcase_add_test(group, a_child_that_is_killed_leaves_no_core);
    tcase_add_test(group, the_file_serves_where_a_filter_refuses_the_call);
    tcase_add_test(group, an_older_kernel);
    tcase_add_test(group, limits);
    tcase_add_test(group, names_differ);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
