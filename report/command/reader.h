/* Reads reports back and merges equal hazards, within a run and over all runs, for the command.
 *
 * A report may be cut anywhere, since the process may have been killed. A line that cannot be read
 * is told with file and number, counted, and passed over. A report is read line by line and kept as
 * text. So memory grows with the runs and the hazards that differ, and not with the lines.
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
                  * "missed", an array of `coverage` lines, "cupti", "postmortem", and "replaced",
                  * true of a run whose process has the next one, where there are */
    size_t run_count;
    struct sc_findings findings;
    struct sc_symbols *symbols; /* told which builds ran; may be NULL */
    bool hazardous;             /* a hazard line or a summary says that there were hazards */
    bool incomplete;            /* a run did not end, and its process did not go on in the next */
    bool partial;               /* or lines of hazards are or may be missing for another reason,
                                 * or in a run nothing was looked for */
    bool brief;                 /* keep of a run only what is shown to people */
    bool quiet;                 /* say nothing about bad lines, nor about runs of a later schema */
};

/* All zero is a reader that has read nothing. */
void sc_reader_free(struct sc_reader *reader);

/* Adds the report in `stream`, called `name` in messages. Returns 1, or 0 if there is not one good
 * line, or -errno if the stream could not be read to its end, -ENOTSUP if a run has a later schema.
 * What was read counts. */
int sc_reader_add(struct sc_reader *reader, const char *name, FILE *stream);

/* A summary counts hazards, and no line of any report tells of one. */
static inline bool sc_reader_has_lost_hazards(const struct sc_reader *reader)
{
    return reader->hazardous && reader->findings.count == 0;
}

/* Run `index` as JSON. The caller decrefs the object. NULL when out of memory. */
json_t *sc_reader_run(const struct sc_reader *reader, size_t index);

#endif
