// expect-exit: 0
// needs: kernel (execve)
//
// A SIGSEGV that is blocked and pending stays so when exec fails, and is pending in the program
// that takes the place of this one. A child that starts a program leaves it with its parent.
#include "in_flight.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

static int is_pending(void)
{
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGSEGV);
}

static int is_blocked(void)
{
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    return sigismember(&mask, SIGSEGV);
}

static void show(const char *when)
{
    printf("%s: pending %d, blocked %d\n", when, is_pending(), is_blocked());
    fflush(stdout);
}

static void block_and_send(void)
{
    sigset_t fault;
    sigemptyset(&fault);
    sigaddset(&fault, SIGSEGV);
    sigprocmask(SIG_BLOCK, &fault, NULL);
    raise(SIGSEGV);
}

static void spawn(char *program)
{
    char name[] = "child", *arguments[] = {program, name, NULL};
    char *environment[] = {NULL};
    pid_t child = 0;
    int status = 0;
    CHECK(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environment));
    waitpid(child, &status, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        show(argv[1]);
        return 0;
    }
    edge_start();
    hold();
    block_and_send();
    show("sent");
    execl("/nowhere", argv[0], (char *)NULL);
    show("exec has failed");
    spawn(argv[0]);
    show("a child has run");
    let_go();
    execl("/proc/self/exe", argv[0], "another program", (char *)NULL);
    return 1;
}
