/* Tells whether a file is a report that the library wrote, so that no other file is ever removed or
 * appended to.
 *
 * The path of a report may lead to any file of the user's. A file counts as a report only if its
 * first line is a complete run line, with all fields as the library writes them, and its last line
 * is a complete line of the library's. So an empty file, a report whose last line was cut by a full
 * disk, and one with notes after it do not count.
 *
 * The functions read the first line and, from the end, the last one. They need 5 KB of stack, and
 * neither allocate, lock nor change errno. */
#ifndef SC_REPORT_OWN_REPORT_H
#define SC_REPORT_OWN_REPORT_H

#include <stdbool.h>
#include <stdint.h>

/* The process that began the report, from its first line. */
struct sc_own_report_author {
    int32_t pid;
    uint64_t started; /* as in struct sc_path_names */
    char host[256];   /* with JSON's escapes; "" if it is longer */
};

/* Returns true if the file's first line is a complete `run` line of the library's, and stores the
 * process that wrote it; else *author is undefined. Only such a file may be removed or appended
 * to. */
bool sc_own_report_begins(int fd, struct sc_own_report_author *author);

/* Returns true if the file's last line is a complete line of the library's: the report was not
 * cut, and nobody has added to it. */
bool sc_own_report_ends(int fd);

#endif
