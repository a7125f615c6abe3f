#define _GNU_SOURCE 1
#include "report/command/descriptors.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9 */
#endif

/* Closes the descriptors between the two that /proc lists, one by one: for Linux versions that
 * cannot close a range. */
static void close_listed(int first, int last)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char *end;
        long fd = strtol(entry->d_name, &end, 10);
        if (end != entry->d_name && fd >= first && fd <= last && fd != dirfd(folder))
            close((int)fd);
    }
    if (folder)
        closedir(folder);
}

/* Closes the descriptors from `first` to `last`. Linux before 5.9 lacks close_range: then those
 * that /proc lists are closed. */
static void close_between(int first, int last)
{
    if (first <= last && syscall(SYS_close_range, first, last, 0) != 0)
        close_listed(first, last);
}

/* Closes all descriptors but the standard three and `own`, in a child that shall have no file of
 * its parent's. */
void sc_descriptors_close_but(int own)
{
    close_between(STDERR_FILENO + 1, own > STDERR_FILENO ? own - 1 : INT_MAX);
    if (own > STDERR_FILENO)
        close_between(own + 1, INT_MAX);
}
