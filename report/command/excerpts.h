/* Reads lines of source around a place in the code, from files on this machine.
 *
 * A report names the files, and it may come from somebody else: source_roots.h says which files may
 * be shown. A file of more than 4 MB is not shown. Reading never waits for another process. */
#ifndef SC_REPORT_COMMAND_EXCERPTS_H
#define SC_REPORT_COMMAND_EXCERPTS_H

#include "report/command/scratch.h"
#include "report/command/source_roots.h"

#include <stddef.h>

enum { SC_EXCERPTS_AROUND = 2, SC_EXCERPTS_LINES = 2 * SC_EXCERPTS_AROUND + 1 };

struct sc_excerpt {
    size_t first;                         /* 0: nothing can be shown */
    size_t count;                         /* 0: there is nothing to show */
    const char *lines[SC_EXCERPTS_LINES]; /* without tabs and ends of lines; long ones are cut */
};

/* Keeps files that were read lately. */
struct sc_excerpts;

/* Makes a reader. The roots are read with each file, and stay the caller's. NULL: no memory. */
struct sc_excerpts *sc_excerpts_new(const struct sc_source_roots *roots);
void sc_excerpts_free(struct sc_excerpts *excerpts);

/* Reads the lines around `line` of the file at `path` into the scratch. */
struct sc_excerpt sc_excerpts_read(struct sc_excerpts *excerpts, struct sc_scratch *scratch,
                                   const char *path, size_t line);

/* Writes to stderr which source file was the first that exists and was not shown, and why; nothing
 * if all were shown. */
void sc_excerpts_tell_hidden(const struct sc_excerpts *excerpts);

#endif
