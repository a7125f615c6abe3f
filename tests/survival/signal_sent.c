// expect-exit: 0
//
// SIGSEGV as other signals are used: sent, ignored, handled once, blocked in masks, read back; in
// children that die of it, and by handlers that run while it is blocked.
#include "process.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static volatile sig_atomic_t got, code;

static void note(int number, siginfo_t *info, void *context)
{
    (void)context;
    got = number;
    code = info->si_code;
}

static void note_plainly(int number)
{
    got = number;
}

/* Without SA_NODEFER a fault in the handler of a fault kills. */
static void fault_again(int number)
{
    (void)number;
    *(volatile int *)NULL = 1;
}

/* As faulthandler does: the former action comes back, and the instruction is repeated. */
static struct sigaction former;

static void restore_and_return(int number)
{
    sigaction(number, &former, NULL);
}

static void die_in_child(const char *what, void (*handler)(int), int flags)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
        sigaction(SIGSEGV, &action, &former);
        *(volatile int *)NULL = 1;
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%s: killed by %d\n", what, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void send(const char *what)
{
    got = 0;
    kill(getpid(), SIGSEGV);
    printf("%s: got %d\n", what, (int)got);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    struct sigaction found;
    sigset_t set;
    use_cuda("before");
    sigaddset(&action.sa_mask, SIGSEGV);
    sigaddset(&action.sa_mask, SIGUSR2);
    SHOW(sigaction(SIGSEGV, &action, NULL));
    send("with a handler");
    printf("sent by kill: %d\n", code == SI_USER);
    SHOW(sigaction(SIGSEGV, NULL, &found));
    SHOW(sigismember(&found.sa_mask, SIGUSR2));
    SHOW(sigismember(&found.sa_mask, SIGUSR1));
    SHOW(signal(SIGSEGV, SIG_IGN) != SIG_ERR);
    send("ignored");
    action = (struct sigaction){.sa_handler = note_plainly, .sa_flags = (int)SA_RESETHAND};
    SHOW(sigaction(SIGSEGV, &action, NULL));
    send("once");
    SHOW(sigaction(SIGSEGV, NULL, &found));
    SHOW(found.sa_handler == SIG_DFL);

    sigfillset(&action.sa_mask);
    action.sa_handler = note_plainly;
    action.sa_flags = 0;
    SHOW(sigaction(SIGUSR1, &action, NULL));
    SHOW(sigaction(SIGUSR1, NULL, &found));
    SHOW(sigismember(&found.sa_mask, SIGSEGV));
    SHOW(raise(SIGUSR1));

    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    SHOW(sigprocmask(SIG_BLOCK, &set, NULL));
    SHOW(sigprocmask(SIG_SETMASK, NULL, &set));
    SHOW(sigismember(&set, SIGSEGV));
    use_cuda("with the signal blocked");
    SHOW(sigprocmask(SIG_UNBLOCK, &set, NULL));

    die_in_child("default", SIG_DFL, 0);
    die_in_child("ignored", SIG_IGN, 0);
    die_in_child("again", fault_again, 0);
    die_in_child("restored", restore_and_return, 0);
    die_in_child("restored on no stack", restore_and_return, SA_ONSTACK);
    use_cuda("after");
    return 0;
}
