/* A second life with some of the standard descriptors closed: the program starts itself again, so
 * that every library's start-up meets the closed descriptor too. */
#ifndef SC_TESTS_SURVIVAL_DESCRIPTORS_H
#define SC_TESTS_SURVIVAL_DESCRIPTORS_H

#include "survival.h"

#include <fcntl.h>

/* In the first life closes `closed` and executes the program again; returns in the second. */
static SURVIVAL_HELPER void live_again_without(int closed, int argc, char **argv)
{
    if (argc > 1)
        return;
    close(closed);
    execl("/proc/self/exe", argv[0], "again", (char *)NULL);
    _exit(4);
}

/* A file without a name, on the lowest free descriptor. */
static SURVIVAL_HELPER int open_scratch(void)
{
    char path[] = "/tmp/survival-XXXXXX";
    int descriptor = mkstemp(path);
    unlink(path);
    return descriptor;
}

/* What the file holds, without the program's own mark: anything else was written by a stranger. */
static SURVIVAL_HELPER long size_of(int descriptor)
{
    return (long)lseek(descriptor, 0, SEEK_END);
}

#endif
