/* Reads lines of source around a place in the code, from files on this machine.
 *
 * A report names the files, and a report may be a stranger's: source_roots.h says which of them may
 * be shown. A file over 4 MB is not, and nobody is waited for. */
#ifndef SC_REPORT_COMMAND_EXCERPTS_H
#define SC_REPORT_COMMAND_EXCERPTS_H

#include "report/command/scratch.h"
#include "report/command/source_roots.h"

#include <stddef.h>

enum { SC_EXCERPTS_AROUND = 2, SC_EXCERPTS_LINES = 2 * SC_EXCERPTS_AROUND + 1 };

struct sc_excerpt {
    size_t first;                         /* the number of the first line */
    size_t count;                         /* 0: there is nothing to show */
    const char *lines[SC_EXCERPTS_LINES]; /* without tabs and ends of lines; long ones are cut */
};

/* Keeps some files. */
struct sc_excerpts;

/* The roots are read with each file, and stay the caller's. NULL when out of memory. */
struct sc_excerpts *sc_excerpts_new(const struct sc_source_roots *roots);
void sc_excerpts_free(struct sc_excerpts *excerpts);

/* Reads the lines around `line` of the file at `path` into the scratch. */
struct sc_excerpt sc_excerpts_read(struct sc_excerpts *excerpts, struct sc_scratch *scratch,
                                   const char *path, size_t line);

/* Says on stderr which source file was the first that exists and yet was not shown, and why;
 * nothing if all were shown. */
void sc_excerpts_tell_hidden(const struct sc_excerpts *excerpts);

#endif
