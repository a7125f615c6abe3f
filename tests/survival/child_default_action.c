// expect-exit: 0
//
// Children by _Fork, by system calls of the program's own and by vfork, beside memory in flight.
// They set SIGSEGV's default action, start a program with arguments that lie there, or touch it.
#include "process.h"
#include "raw_mask.h"

#include <sys/syscall.h>

enum child { BY_FORK, BY_FORK_PLAIN, BY_INSTRUCTION, BY_NUMBER, BY_VFORK, WAYS };

static const char *const names[WAYS] = {"fork", "_Fork", "clone by instruction", "clone by number",
                                        "vfork"};

static pid_t make_child(enum child way)
{
    switch (way) {
    case BY_FORK:
        return fork();
    case BY_FORK_PLAIN:
        return _Fork();
    case BY_INSTRUCTION:
        return (pid_t)raw_call(SYS_clone, SIGCHLD, 0, 0, 0);
    default:
        return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    }
}

static void touch_edge(volatile unsigned char *edge)
{
    edge[1]++;
    raw_call(SYS_exit_group, edge[1] + edge[2], 0, 0, 0);
}

static void touch_by_default(enum child way)
{
    unsigned char *edge = edge_start();
    hold();
    pid_t child = make_child(way);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        touch_edge(edge);
    }
    show_end(names[way], child);
    release();
}

static void touch_by_number(enum child way)
{
    unsigned char *edge = edge_start();
    struct raw_action action = raw_action_of(SIG_DFL);
    hold();
    pid_t child = make_child(way);
    if (child == 0) {
        syscall(SYS_rt_sigaction, SIGSEGV, &action, NULL, sizeof action.mask);
        touch_edge(edge);
    }
    show_end(names[way], child);
    release();
}

/* What the child is to run lies on the page that is guarded, and only the kernel reads it. */
static void start_program(enum child way)
{
    char *edge = edge_start();
    char **arguments = (char **)(edge + 512);
    strcpy(edge + 64, "/bin/sh");
    strcpy(edge + 80, "-c");
    strcpy(edge + 96, "exit 7");
    arguments[0] = edge + 64;
    arguments[1] = edge + 80;
    arguments[2] = edge + 96;
    arguments[3] = NULL;
    hold();
    pid_t child = way == BY_VFORK ? vfork() : make_child(way);
    if (child == 0) {
        syscall(SYS_execve, edge + 64, arguments, environ);
        raw_call(SYS_exit_group, 99, 0, 0, 0);
    }
    show_end(names[way], child);
    release();
}

int main(void)
{
    for (enum child way = 0; way < WAYS; way++)
        start_program(way);
    for (enum child way = 0; way < BY_VFORK; way++) {
        touch_by_default(way);
        touch_by_number(way);
    }
    return 0;
}
