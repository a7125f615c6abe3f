/* Who this process is, as file names and the `run` line say it, and where its report goes.
 * Reads /proc and the environment; allocates nothing and takes no lock.
 */
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
    uint64_t started; /* the process, exec or not; in ticks since the machine was; 0 if unknown */
};

void sc_path_find_names(struct sc_path_names *names);

/* `started` of another process; 0 if there is none of that number, or it has ended. */
uint64_t sc_path_find_start(int32_t pid);

/* Expands %p (pid), %e (file name of the executable), %h (host) and %r (rank, "0" without one) in
 * `pattern`, any other % sequence being kept as it is, and makes the result absolute. Returns 0 or
 * -ENAMETOOLONG. */
int sc_path_expand(const char *pattern, const struct sc_path_names *names, char *path, size_t size);

/* The part after the last '/'. */
const char *sc_path_base(const char *path);

#endif
