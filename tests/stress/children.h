/* Children, which have a copy of private memory and share the rest. */
#ifndef SC_TESTS_STRESS_CHILDREN_H
#define SC_TESTS_STRESS_CHILDREN_H

#include "signals.h"

#include <spawn.h>
#include <sys/wait.h>

enum { CHILD_STATUS = 43 };

static void expect_child(pid_t child, int wanted)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            fail("waitpid: errno %d", errno);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != wanted)
        fail("a child ended with %#x", (unsigned)status);
}

/* What is in flight on other slots goes on. The bytes of a slot that its owner may read are right
 * in the child, too; what is private the child may write, and the parent does not see it. */
static void look_from_child(struct slot **quiet, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct buffer *host = &quiet[i]->host;
        expect_bytes(host->bytes, host->wanted, host->size_bytes, "in a child");
        if (quiet[i]->memory != PINNED && quiet[i]->memory != PORTABLE)
            memset(host->bytes, 0xee, host->size_bytes);
    }
    for (unsigned i = 0; i < gap_count; i++)
        check_gap(&gaps[i]);
    step_heap();
    _exit(CHILD_STATUS);
}

static void step_fork(void)
{
    struct slot *quiet[16];
    unsigned count = 0;

    if (!one_in(4))
        return;
    for (unsigned i = 0; i < 4; i++)
        step_copy_down();
    for (unsigned i = 0; i < me->owned && count < 16; i++)
        if (is_quiet(&me->slots[i]->host))
            quiet[count++] = me->slots[i];
    pid_t child = fork();
    if (child < 0)
        fail("fork: errno %d", errno);
    if (child == 0)
        look_from_child(quiet, count);
    expect_child(child, CHILD_STATUS);
    for (unsigned i = 0; i < count; i++)
        check_host(quiet[i]);
}

/* The arguments of a program lie in a slot. */
static void step_spawn(void)
{
    static const char argument[] = "exit 43";
    extern char **environ;
    struct slot *slot = any_slot();
    char *bytes = (char *)slot->host.bytes, shell[] = "sh", flag[] = "-c";
    char *arguments[] = {shell, flag, bytes, NULL};
    char *environment[] = {NULL};
    pid_t child;

    if (!one_in(8) || slot->host.size_bytes < sizeof argument)
        return;
    host_may_write(&slot->host);
    memcpy(bytes, argument, sizeof argument);
    memcpy(slot->host.wanted, argument, sizeof argument);
    MUST(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environment));
    expect_child(child, CHILD_STATUS);
    check_host(slot);
}

#endif
