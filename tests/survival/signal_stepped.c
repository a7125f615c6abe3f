// expect-exit: 0
// needs: kernel (ptrace)
// timeout: 300
//
// SIGSEGV that is sent to a thread on its way into a wait for it ends the wait, whichever
// instruction it interrupts: another process steps the thread and sends one at each.
#include "signals.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { TOO_LONG_S = 60, STEPS_MAX = 100000, READY = SIGUSR1 };

static volatile sig_atomic_t got;

static void note(int number)
{
    got = number;
}

/* ---- the one that waits ---- */

static int by_sigwait(const sigset_t *set)
{
    int number = 0;
    CHECK(sigwait(set, &number));
    return number;
}

static int by_sigwaitinfo(const sigset_t *set)
{
    siginfo_t info;
    return sigwaitinfo(set, &info);
}

static int by_sigtimedwait(const sigset_t *set)
{
    struct timespec long_enough = {TOO_LONG_S, 0};
    return sigtimedwait(set, NULL, &long_enough);
}

static int by_sigsuspend(const sigset_t *set)
{
    sigset_t others = every();
    sigdelset(&others, SIGSEGV);
    sigdelset(&others, SIGALRM);
    (void)set;
    sigsuspend(&others);
    return (int)got;
}

static int by_sigpause(const sigset_t *set)
{
    (void)set;
    sigpause(SIGSEGV);
    return (int)got;
}

/* Tells the other process that a round begins, until that one lets it through. */
static void wait_again_and_again(const char *name, int (*wait)(const sigset_t *set))
{
    sigset_t set = only(SIGSEGV);
    int lost = 0;
    sigaddset(&set, SIGALRM);
    set_mask(set);
    for (;;) {
        alarm(TOO_LONG_S);
        got = 0;
        raise(READY);
        if (got == READY)
            break;
        lost += wait(&set) != SIGSEGV;
    }
    alarm(0);
    set_mask(only(0));
    printf("%s: %d lost\n", name, lost);
}

static void wait_in_each_way(void)
{
    wait_again_and_again("sigwait", by_sigwait);
    wait_again_and_again("sigwaitinfo", by_sigwaitinfo);
    wait_again_and_again("sigtimedwait", by_sigtimedwait);
    wait_again_and_again("sigsuspend", by_sigsuspend);
    wait_again_and_again("sigpause", by_sigpause);
}

static int be_stepped(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return 0;
    raise(SIGSTOP);
    edge_start();
    handle(SIGSEGV, note, 0, only(0));
    handle(SIGALRM, note, 0, only(0));
    handle(READY, note, 0, only(0));
    touch_beside("stepped");
    wait_in_each_way();
    return 0;
}

/* ---- the one that steps ---- */

/* Is the next instruction the system call that waits? */
static bool is_about_to_wait(pid_t pid)
{
    struct user_regs_struct registers;
    struct iovec piece = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &piece) != 0)
        return false;
#if defined(__x86_64__)
    long code = ptrace(PTRACE_PEEKTEXT, pid, (void *)registers.rip, NULL);
    return (code & 0xffff) == 0x050f &&
           (registers.rax == SYS_rt_sigtimedwait || registers.rax == SYS_rt_sigsuspend);
#else
    long code = ptrace(PTRACE_PEEKTEXT, pid, (void *)registers.pc, NULL);
    return (code & 0xffffffff) == 0xd4000001 &&
           (registers.regs[8] == SYS_rt_sigtimedwait || registers.regs[8] == SYS_rt_sigsuspend);
#endif
}

/* Goes on until the process stops by a signal, which it gets if it is not READY. False: it has
 * ended, with that status. */
static bool go_on(pid_t pid, int *status)
{
    int number = 0;
    do {
        if (ptrace(PTRACE_CONT, pid, NULL, (void *)(long)number) != 0 ||
            waitpid(pid, status, 0) != pid || !WIFSTOPPED(*status))
            return false;
        number = WSTOPSIG(*status);
    } while (number != READY);
    return true;
}

static bool step(pid_t pid, int *status)
{
    int number = 0;
    do {
        if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(long)number) != 0 ||
            waitpid(pid, status, 0) != pid || !WIFSTOPPED(*status))
            return false;
        number = WSTOPSIG(*status);
    } while (number != SIGTRAP);
    return true;
}

/* A round with one more step, until the steps lead into the wait. Then READY is let through. */
static bool send_at_each_instruction(pid_t pid, int *status)
{
    bool is_last = false;
    for (int steps = 0; !is_last && steps < STEPS_MAX; steps++) {
        for (int i = 0; i < steps && !is_last; i++) {
            is_last = is_about_to_wait(pid);
            if (!is_last && !step(pid, status))
                return false;
        }
        CHECK((int)syscall(SYS_tgkill, pid, pid, SIGSEGV));
        if (!go_on(pid, status))
            return false;
    }
    if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)READY) != 0 ||
        waitpid(pid, status, 0) != pid || !WIFSTOPPED(*status))
        return false;
    return go_on(pid, status);
}

int main(void)
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        return be_stepped();
    if (waitpid(pid, &status, 0) != pid)
        return 3;
    if (WIFSTOPPED(status) && go_on(pid, &status))
        while (send_at_each_instruction(pid, &status))
            ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}
