/* Reads reports, and merges equal hazards within a run and over all runs, for the command.
 *
 * A report may be cut anywhere, since the process may have been killed. A line that cannot be read
 * is reported with file and number, counted, and skipped: what it said is not known, so the run
 * cannot be called clean. A file that cannot be read counts as a run of which nothing is known. A
 * report is read line by line, and kept as text. So memory grows with the runs and the different
 * hazards, and not with the lines. If runs are merged, it does not grow with the runs either,
 * except for two numbers for each gap among the runs that had a hazard. */
#ifndef SC_REPORT_COMMAND_READER_H
#define SC_REPORT_COMMAND_READER_H

#include "report/command/findings.h"
#include "report/command/memory_between.h"
#include "report/command/merged_runs.h"
#include "report/command/symbols.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct sc_reader_run {
    char *text;
    /* the builds of modules in the run; they live as long as the findings */
    const struct sc_builds *builds;
};

/* How many bad lines of a run its record names. Further ones are counted. */
enum { SC_READER_NAMED_LINES_MAX = 16 };

struct sc_reader {
    /* For each run its record: the text of {"file","run","summary","bad_lines"}, where run and
     * summary may be null. Further members, if the run has such lines or properties:
     *   "missed"         an array of `coverage` lines; and "cupti", "postmortem", and the last of
     *                    "memory" and "oom"
     *   "memory_points", "memory_lines"  members `memory` over time, brief and whole
     *   "told"           without a summary: how many hazards of each code the lines tell of
     *   "memory_from", "memory_to"  those that `between` names
     *   "replaced"       true: the run's process has the next one
     *   "unread"         the first bad lines: an array of {"line","problem"}
     *   "unreadable"     why the file, or the rest of it, could not be read
     *   "lines_missing"  true: its summary counts hazards of which no line tells
     *   "merged"         of several runs (merged_runs.h) */
    struct sc_reader_run *runs;
    size_t run_count;
    struct sc_findings findings;
    struct sc_memory_between between;
    struct sc_symbols *symbols; /* learns which processes ran; may be NULL */
    bool hazardous;             /* a hazard line or a summary says that there were hazards */
    bool incomplete; /* a run did not end, and its process did not go on as another program */
    bool unread;     /* lines, a run's first line, or files could not be read */
    bool untold;     /* there were, or may have been, hazards that no line tells of */
    bool unreached;  /* in a run nothing was watched */
    bool brief;      /* keep of each run only what is shown to people */
    bool merges;     /* merge all runs into one, in sc_reader_end */
    struct sc_merged_runs merged;
    bool quiet; /* write no messages about bad lines and about runs of a later schema */
};

/* All zero is a reader that has read nothing. */
void sc_reader_free(struct sc_reader *reader);

/* Adds the report in `stream`, called `name` in messages. Returns 1; 0 if it has not one good line;
 * -ENOTSUP if a run has a later schema; or another -errno if the stream could not be read to its
 * end. What was read counts in any case. */
int sc_reader_add(struct sc_reader *reader, const char *name, FILE *stream);

/* Adds a report that could not be opened. */
void sc_reader_add_unreadable(struct sc_reader *reader, const char *name, const char *why);

/* Finishes reading, after the last report. */
void sc_reader_end(struct sc_reader *reader);

/* Returns true if there may be hazards that are not among the findings. */
static inline bool sc_reader_is_partial(const struct sc_reader *reader)
{
    return reader->incomplete || reader->unread || reader->untold || reader->unreached;
}

/* Returns how many hazards of each code the run with this record had at least: by its summary, else
 * by its lines. */
json_t *sc_reader_run_counts(const json_t *run);

/* Returns the record of run `index` as JSON. The caller decrefs the object. NULL: no memory. */
json_t *sc_reader_run(const struct sc_reader *reader, size_t index);

#endif
