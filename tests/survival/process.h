/* Children and how they ended. */
#ifndef SC_TESTS_SURVIVAL_PROCESS_H
#define SC_TESTS_SURVIVAL_PROCESS_H

#include "survival.h"

#include <sys/wait.h>

/* Waits for the child and prints how it ended. */
static SURVIVAL_HELPER void show_end(const char *who, pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status))
        printf("%s: exit status %d\n", who, WEXITSTATUS(status));
    else
        printf("%s: signal %d\n", who, WTERMSIG(status));
    fflush(stdout);
}

/* Runs `body` in a child, which ends by _exit(status) or, if `tidy`, by exit(status). */
static SURVIVAL_HELPER void in_child(const char *who, void (*body)(void), int status, bool tidy)
{
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        abort();
    if (child == 0) {
        body();
        fflush(stdout);
        if (tidy)
            exit(status);
        _exit(status);
    }
    show_end(who, child);
}

#endif
