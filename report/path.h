/* What tells this process from others in file names and in the `run` line (process id, start time,
 * host), and the path to which its report goes.
 *
 * The functions read /proc and the environment. None allocates or locks. */
#ifndef SC_REPORT_PATH_H
#define SC_REPORT_PATH_H

#include <stddef.h>
#include <stdint.h>

struct sc_path_names {
    char executable[4096]; /* absolute; "" if unknown */
    char directory[4096];  /* the working directory now; "" if unknown */
    char host[256];
    char rank[32]; /* "" where no launcher set one */
    int32_t pid;
    uint64_t started; /* when, in the kernel's ticks since boot; exec keeps it; 0 if unknown */
};

/* Fills in the names of this process. */
void sc_path_find_names(struct sc_path_names *names);

/* When process `pid` was started, in the kernel's ticks since boot; 0: there is no such process, or
 * it has ended. With the process id it names a process even after the id is used again. */
uint64_t sc_path_find_start(int32_t pid);

/* Expands `pattern` and makes the result absolute: %p is the pid, %e the executable's file name, %h
 * the host, and %r the rank ("0" without a rank). Any other % sequence stays as it is. Expanded
 * names lead into no other directory: '/' and control characters in them become '_', and so do the
 * dots of a component that becomes "." or "..". 0 or -ENAMETOOLONG. */
int sc_path_expand(const char *pattern, const struct sc_path_names *names, char *path, size_t size);

/* The first letter behind a % in a report_path for which sc_path_expand has no meaning; 0 if there
 * is none. A % at the end of a path component has no letter. */
char sc_path_unknown_letter(const char *pattern);

/* The part after the last '/'. */
const char *sc_path_base(const char *path);

#endif
