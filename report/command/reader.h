/* Reads reports back and merges equal hazards, within a run and over all runs, for the command.
 *
 * A report may be cut anywhere, since the process may have been killed: what cannot be read is
 * told with file and line, counted, and passed over. It is read line by line, and what is kept of
 * it is text: memory goes by the runs and the hazards that differ, and not by the lines.
 */
#ifndef SC_REPORT_COMMAND_READER_H
#define SC_REPORT_COMMAND_READER_H

#include "report/command/findings.h"
#include "report/command/symbols.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct sc_reader {
    char **runs; /* the text of {"file","run","summary","bad_lines"}; run, summary may be null; with
                  * "missed", an array of `coverage` lines, and "cupti", where there are */
    size_t run_count;
    struct sc_findings findings;
    struct sc_symbols *symbols; /* told which builds ran; may be NULL */
    bool hazardous;             /* a hazard line or a summary says that there were hazards */
    bool brief;                 /* of runs only what is shown to people is kept */
    bool quiet;                 /* says nothing about bad lines */
};

/* All zero is a reader that has read nothing. */
void sc_reader_free(struct sc_reader *reader);

/* Adds the report in `stream`, called `name` in messages. Returns 1; 0 if it is no report: there is
 * not one good line in it; or -errno if it could not be read to the end, what came before that
 * counting. */
int sc_reader_add(struct sc_reader *reader, const char *name, FILE *stream);

/* Run `index` as JSON; the caller decrefs it. NULL when out of memory. */
json_t *sc_reader_run(const struct sc_reader *reader, size_t index);

#endif
