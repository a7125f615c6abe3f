#define _GNU_SOURCE 1
#include "report/command/program.h"

#include "report/command/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_A_SECOND INT64_C(1000000000)

/* What this process was started with, and the program gets. */
struct inherited {
    sigset_t mask;
    struct sigaction on_child;
    pid_t parent;
};

/* Blocks all signals, so that each waits for sigwaitinfo; an ignored SIGCHLD would take the
 * program's status away. */
static void hold_signals(struct inherited *inherited)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &inherited->mask);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &inherited->on_child);
    inherited->parent = getpid();
}

/* Puts the signals back as they were. What has come for the program is void when the program has
 * ended. */
static void release_signals(const struct inherited *inherited)
{
    sigset_t all;
    sigfillset(&all);
    while (sigtimedwait(&all, NULL, &(struct timespec){0}) > 0)
        ;
    sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}

/* Executes the program, in the child. If exec fails, its errno is written to `failure`; else exec
 * closes `failure`. */
__attribute__((noreturn)) static void become(char **argv, const struct inherited *inherited,
                                             enum sc_program_stdout out, int failure)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != inherited->parent)
        _exit(127);
    sigaction(SIGCHLD, &inherited->on_child, NULL);
    sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
    if (out == SC_PROGRAM_STDOUT_IS_STDERR)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    execvp(argv[0], argv);
    int error = errno;
    _exit(write(failure, &error, sizeof error) < 0 ? 127 : 0);
}

/* Has the program got the signal, too? The terminal sends these signals to the whole process
 * group. But when the terminal is closed, SIGHUP goes only to the leader of the session. */
static bool is_for_group(int number)
{
    switch (number) {
    case SIGHUP:
        return getsid(0) != getpid();
    case SIGINT:
    case SIGQUIT:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGCONT:
    case SIGWINCH:
        return true;
    default:
        return false;
    }
}

/* Passes a signal on to the program, unless the program itself has sent it to its parent or its
 * group. */
static void pass_on(pid_t program, const siginfo_t *signal)
{
    bool is_sent = signal->si_code <= 0;
    if (is_sent ? signal->si_pid == program : is_for_group(signal->si_signo))
        return;
    if (signal->si_code == SI_QUEUE)
        sigqueue(program, signal->si_signo, signal->si_value);
    else
        kill(program, signal->si_signo);
}

/* Stops this process as the program was stopped, so that the shell sees its job stopped. Returns
 * when the shell continues the job. */
static void stop_alike(int number)
{
    sigset_t pending, own;
    sigpending(&pending);
    if (sigismember(&pending, SIGCONT))
        return;
    sigemptyset(&own);
    sigaddset(&own, number);
    signal(number, SIG_DFL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &own, NULL);
    sigprocmask(SIG_BLOCK, &own, NULL);
}

/* Reaps whatever has ended: process 1 gets the orphans too. */
static bool has_ended(pid_t program, int *status)
{
    pid_t child;
    while ((child = waitpid(-1, status, WNOHANG | WUNTRACED)) > 0) {
        if (child == program && !WIFSTOPPED(*status))
            return true;
        if (child == program)
            stop_alike(WSTOPSIG(*status));
    }
    return false;
}

/* Waits for the program, and passes on to it the signals that come meanwhile. */
static int attend(pid_t program)
{
    siginfo_t signal;
    sigset_t all;
    int status = 0;
    sigfillset(&all);
    while (!has_ended(program, &status))
        if (sigwaitinfo(&all, &signal) > 0 && signal.si_signo != SIGCHLD)
            pass_on(program, &signal);
    return status;
}

/* Reaps the children that have ended. Returns whether any is left. */
static bool has_children(void)
{
    pid_t child;
    while ((child = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    return child == 0;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_A_SECOND + now.tv_nsec;
}

/* Is it a signal by which the user ends the waiting? */
static bool ends_waiting(int number)
{
    return number == SIGHUP || number == SIGINT || number == SIGQUIT || number == SIGTERM;
}

/* Waits for a signal that a child has ended. Returns false if a signal that ends the waiting has
 * come, or the time is over. */
static bool await_signal(int64_t end_ns)
{
    sigset_t all;
    int64_t left_ns = end_ns - now_ns();
    if (left_ns <= 0)
        return false;
    struct timespec left = {left_ns / NS_A_SECOND, left_ns % NS_A_SECOND};
    sigfillset(&all);
    int number = sigtimedwait(&all, NULL, &left);
    if (number == SIGTSTP)
        stop_alike(number);
    return !ends_waiting(number);
}

/* Waits for processes that the program has left running, until the limit (below 0: none) or a
 * signal. */
static void await_orphans(int limit_s)
{
    int64_t end_ns = limit_s < 0 ? INT64_MAX : now_ns() + limit_s * NS_A_SECOND;
    while (has_children() && await_signal(end_ns))
        ;
}

/* Closes the files that this process shares with the program, so that a reader at the other end of
 * a pipe sees its end when the program has ended. */
static void let_files_go(enum sc_program_stdout out, int own)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    if (out == SC_PROGRAM_STDOUT_LET_GO && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        dup2(nothing, STDOUT_FILENO);
    sc_descriptors_close_but(own);
}

/* Starts the program. Returns a negative error if that fails; the child reports it through a pipe
 * that a successful exec closes. */
static int start(char **argv, const struct inherited *inherited, enum sc_program_stdout out,
                 pid_t *program)
{
    int failure[2], error = 0;
    if (pipe2(failure, O_CLOEXEC) != 0)
        return -errno;
    *program = fork();
    if (*program == 0)
        become(argv, inherited, out, failure[1]);
    if (*program < 0)
        error = errno;
    close(failure[1]);
    if (*program > 0 && read(failure[0], &error, sizeof error) > 0)
        waitpid(*program, NULL, 0);
    close(failure[0]);
    return -error;
}

/* Runs the program as a shell would, and awaits it, and with `awaits` all that it has started.
 * Returns its status, or a negative error. */
int sc_program_run(char **argv, const struct sc_program_ways *ways)
{
    struct inherited inherited;
    pid_t program = -1;
    hold_signals(&inherited);
    if (ways->awaits)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    int result = start(argv, &inherited, ways->out, &program);
    if (ways->pid)
        *ways->pid = program;
    if (result == 0) {
        let_files_go(ways->out, ways->own);
        result = attend(program);
        if (ways->awaits)
            await_orphans(ways->limit_s);
    }
    release_signals(&inherited);
    return result;
}

/* Ends this command as the program has ended: by the same signal, without a core dump. Returns an
 * exit status if no signal has ended the program, or if the signal does not end this process. */
int sc_program_end_alike(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    int number = WTERMSIG(status);
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, number);
    fflush(NULL);
    prctl(PR_SET_DUMPABLE, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    signal(number, SIG_DFL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &own, NULL);
    return 128 + number;
}
