/* Names that tell this process from others in file names and in the `run` line (process id, start
 * time, host), and the path of its report.
 *
 * The functions read /proc and the environment. None allocates or locks. */

/* Terms (docs/glossary.md):
 *   ticks: a time of the processor's counter
 */

#ifndef SC_REPORT_PATH_H
#define SC_REPORT_PATH_H

#include <stddef.h>
#include <stdint.h>

/* What tells this process from others. */
struct sc_path_names {
    char executable[4096]; /* absolute; "" if unknown */
    char directory[4096];  /* the working directory now; "" if unknown */
    char host[256];
    char rank[32]; /* "" if no launcher has set one */
    int32_t pid;
    /* the time of its start, in the Linux kernel's ticks since boot; the same after exec; 0: not
     * known */
    uint64_t started;
};

/* Stores what tells this process from others, as it is now. Reads /proc and the environment. */
void sc_path_find_names(struct sc_path_names *names);

/* Returns when process `pid` was started, in the Linux kernel's ticks since boot; 0: there is no
 * such process, or it has ended. Together with the process id this identifies a process even if the
 * id is used again. */
uint64_t sc_path_find_start(int32_t pid);

/* Expands `pattern` and makes the result absolute: %p is the process id, %e the executable's file
 * name, %h the host, and %r the rank ("0" if there is none). Any other % sequence stays as it is.
 * Expanded names lead into no other directory: '/' and control characters in them become '_', and
 * so do the dots of a component that becomes "." or "..". Returns 0 or -ENAMETOOLONG. */
int sc_path_expand(const char *pattern, const struct sc_path_names *names, char *path, size_t size);

/* Returns the first letter after a % in a report_path that sc_path_expand does not expand; 0 if
 * there is none. A % at the end of a path component has no letter. */
char sc_path_unknown_letter(const char *pattern);

/* Returns the part of the path after the last '/': the file's name. */
const char *sc_path_base(const char *path);

#endif
