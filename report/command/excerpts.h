/* Lines of source around one, from files on this machine.
 *
 * A report names the files, and a report may be a stranger's: only a regular file of reasonable
 * size whose name ends as a source's does is read, and nobody is waited for.
 */
#ifndef SC_REPORT_COMMAND_EXCERPTS_H
#define SC_REPORT_COMMAND_EXCERPTS_H

#include "report/command/scratch.h"

#include <stddef.h>

enum { SC_EXCERPTS_AROUND = 2, SC_EXCERPTS_LINES = 2 * SC_EXCERPTS_AROUND + 1 };

struct sc_excerpt {
    size_t first;                         /* the number of the first line */
    size_t count;                         /* 0: there is nothing to show */
    const char *lines[SC_EXCERPTS_LINES]; /* without tabs and ends of lines; long ones are cut */
};

/* Keeps some files. */
struct sc_excerpts;

/* NULL when out of memory. */
struct sc_excerpts *sc_excerpts_new(void);
void sc_excerpts_free(struct sc_excerpts *excerpts);

/* The lines around `line` of the file at `path`, in the scratch. */
struct sc_excerpt sc_excerpts_read(struct sc_excerpts *excerpts, struct sc_scratch *scratch,
                                   const char *path, size_t line);

#endif
