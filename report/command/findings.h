/* Collects the different hazards of one or more runs from the lines of their reports.
 *
 * Hazards are equal if they have the same code and the same stacks, in the same builds of modules.
 * Two devices of a run that have too little room are two, and the first ones of two runs are equal.
 * The text of the last of equal hazards is kept, and the frames that it shares with other lines
 * once for all. The JSON objects, which take many times as much, are not kept. So memory grows with
 * the hazards that differ, and not with the lines. */
#ifndef SC_REPORT_COMMAND_FINDINGS_H
#define SC_REPORT_COMMAND_FINDINGS_H

#include "report/command/builds.h"
#include "report/command/pieces.h"
#include "report/command/run_set.h"
#include "report/command/table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When the copy of a hazard ran: of all its `timing` lines the one whose copy had longest left to
 * run. */
struct sc_timing {
    char *line; /* NULL: none */
    json_int_t remaining_ns;
    json_int_t issued_ns; /* the copy; of the occurrence's own line */
};

struct sc_instants;

struct sc_finding {
    /* found by code and stacks; once the run has ended, by the builds of modules, too */
    struct sc_node node;
    struct sc_finding *next; /* in the order of their first lines */
    char *line;              /* the last one, packed */
    size_t size;             /* of the line */
    char code[8];
    json_int_t device;              /* that has too little room (SC602); 0 for all other codes */
    unsigned device_number;         /* of those of the run that have the same stacks, from 0 */
    bool is_suppressed;             /* the last line says so */
    bool is_advisory;               /* the same: nobody fails for it */
    char certainty[16];             /* of the last line, or "observed" if a line before had it */
    json_int_t count;               /* over the runs that have ended */
    bool is_least;                  /* there may have been more */
    bool is_unbounded;              /* and no summary says how many */
    const struct sc_builds *builds; /* of the modules in its stacks */
    struct sc_run_set runs;         /* those of these that had it, from 0 */
    size_t last_run;                /* number of the one that the last line is of, from 0 */
    struct sc_timing timing;        /* of these */

    /* The next finding of the run that is being read. */
    struct sc_finding *next_in_run;
    json_int_t run_count; /* 0: it has not been there */
    json_int_t run_told;  /* by lines at powers of two */
    bool run_is_least, run_is_unbounded;
    struct sc_timing run_timing;
    struct sc_instants *instants; /* those that the last line is of */
};

/* A code is "SC" and three digits. */
enum { SC_FINDING_CODES = 1000 };

struct sc_findings {
    struct sc_finding *first, *last; /* of the runs that have ended */
    size_t count, ended_runs;
    struct sc_finding *first_in_run, *last_in_run; /* that is being read */
    struct sc_table table, table_in_run;           /* of struct sc_finding */
    struct sc_table instants;                      /* of struct sc_instants, in this run */
    struct sc_builds_list builds;
    const struct sc_builds *run_builds; /* of the run that has ended last */
    /* How many hazards of each code summaries count whose finding no line tells: they belong to
     * findings that have `is_least` and not `is_unbounded`. */
    json_int_t shared[SC_FINDING_CODES];
    struct sc_pieces pieces; /* with which the lines are parsed */
};

/* All zero is none. */
void sc_findings_free(struct sc_findings *findings);

/* Takes a hazard or timing line, both as JSON and as text, which was the last one parsed with
 * `pieces`, and in which sc_line_problem_find has found nothing. False: one of its frames is no
 * frame, and the line is passed over. */
bool sc_findings_take_hazard(struct sc_findings *findings, const json_t *hazard, const char *line,
                             size_t size);
void sc_findings_take_timing(struct sc_findings *findings, const json_t *timing, const char *line,
                             size_t size);

/* Ends a run: all that was taken since the last end belongs to it. `by_code` is what the run's
 * summary counts for each code, NULL without a summary. The summary makes the count exact where a
 * code has one hazard, or no more occurrences than its lines say. False: there were, or may have
 * been, hazards of which no line tells. */
bool sc_findings_end_run(struct sc_findings *findings, json_t *by_code);

/* The index of a code in `shared`. */
unsigned sc_finding_code_number(const char *code);

/* The reason why the hazard is suppressed, as its line says; NULL: it is not suppressed. */
const char *sc_finding_suppression(const json_t *hazard);

/* All findings in the order of printing: observed before latent, frequent before rare. The caller
 * frees the array. NULL when out of memory. */
struct sc_finding **sc_findings_sort(const struct sc_findings *findings);

/* The hazard line with "count" over all runs, "runs" (how many runs had the hazard), the strongest
 * "certainty", "count_is_least" where there may have been more, and "timing" where known. The
 * caller decrefs the object, and changes no frame of its stacks. NULL when out of memory. */
json_t *sc_finding_read(const struct sc_finding *finding);

#endif
