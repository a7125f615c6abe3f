/* Collects the different hazards of one or more runs from the lines of their reports.
 *
 * Hazards are equal if they have the same code and the same stacks, in the same builds of modules.
 * (SC602 of two devices in one run are two hazards; the first ones of two runs are equal.) Of equal
 * hazards only the text of the last line is kept, and frames that lines share are kept once. The
 * JSON objects, which take many times as much memory, are not kept. So memory grows with the
 * different hazards, and not with the lines. */
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

/* When the copy of a hazard ran on the device. Of all `timing` lines of the hazard, the one is kept
 * whose copy still had longest to run. */
struct sc_timing {
    char *line; /* NULL: none */
    json_int_t remaining_ns;
    json_int_t issued_ns; /* when the copy was issued, by the hazard line of that occurrence */
};

struct sc_instants;

struct sc_finding {
    /* found by code and stacks; once the run has ended, by the builds of modules, too */
    struct sc_node node;
    struct sc_finding *next; /* in the order of their first lines */
    char *line;              /* the last line, packed (pieces.h) */
    size_t size;             /* of the line */
    char code[8];
    json_int_t device; /* SC602: the device that has too little room; 0 for other codes */
    /* the index, from 0, of `device` among the devices of the run that have SC602 with the same
     * stacks */
    unsigned device_number;
    bool is_suppressed;             /* the last line says so */
    bool is_advisory;               /* the last line says so; nothing fails because of it */
    char certainty[16];             /* of the last line, or "observed" if any line had that */
    json_int_t count;               /* in all runs that have ended */
    bool is_least;                  /* there may have been more than `count` */
    bool is_unbounded;              /* and no summary says how many more at most */
    const struct sc_builds *builds; /* of the modules in its stacks */
    struct sc_run_set runs;         /* the runs that had it, by their numbers from 0 */
    size_t last_run;                /* the number of the run that the last line is from */
    struct sc_timing timing;        /* of all these runs */

    /* What follows is about the run that is being read. */
    struct sc_finding *next_in_run;
    json_int_t run_count; /* 0: the run has not had it */
    json_int_t run_told;  /* how many its lines tell of; lines are written at powers of two */
    bool run_is_least, run_is_unbounded;
    struct sc_timing run_timing;
    struct sc_instants *instants; /* the occurrences of the last line */
};

/* A code is "SC" and three digits. */
enum { SC_FINDING_CODES = 1000 };

struct sc_findings {
    struct sc_finding *first, *last; /* of the runs that have ended */
    size_t count, ended_runs;
    struct sc_finding *first_in_run, *last_in_run; /* those of the run that is being read */
    struct sc_table table, table_in_run;           /* of struct sc_finding */
    struct sc_table instants;                      /* struct sc_instants of this run */
    struct sc_builds_list builds;
    const struct sc_builds *run_builds; /* of the run that has ended last */
    /* For each code, how many hazards summaries count that no line tells of. They belong to
     * findings that have `is_least` and not `is_unbounded`. */
    json_int_t shared[SC_FINDING_CODES];
    struct sc_pieces pieces; /* with which the lines are parsed */
};

/* All zero is none. */
void sc_findings_free(struct sc_findings *findings);

/* Adds a hazard line, or a timing line, as JSON and as text. The text must be the last one that was
 * parsed with `pieces`, and sc_line_problem_find must have found nothing wrong.
 * sc_findings_take_hazard returns false, and ignores the line, if one of its frames is malformed.
 */
bool sc_findings_take_hazard(struct sc_findings *findings, const json_t *hazard, const char *line,
                             size_t size);
void sc_findings_take_timing(struct sc_findings *findings, const json_t *timing, const char *line,
                             size_t size);

/* Ends a run, to which all lines since the last end belong. `by_code`: how many hazards of each
 * code its summary counts; NULL: it has none. The summary makes a finding's count exact if it is
 * the only one of its code, or if no more occurrences are counted than lines tell of. Returns false
 * if there were, or may have been, hazards that no line tells of. */
bool sc_findings_end_run(struct sc_findings *findings, json_t *by_code);

/* Returns the index of a code in `shared`. */
unsigned sc_finding_code_number(const char *code);

/* Returns the reason why the hazard is suppressed, as its line says; NULL: it is not suppressed. */
const char *sc_finding_suppression(const json_t *hazard);

/* Returns all findings in the order of printing: observed before latent, frequent before rare. The
 * caller frees the array. NULL: no memory. */
struct sc_finding **sc_findings_sort(const struct sc_findings *findings);

/* Returns the hazard line with "count" over all runs, "runs" (how many runs had the hazard), the
 * strongest "certainty", "count_is_least" if there may have been more, and "timing" if known. The
 * caller decrefs the object, and must not change frames of its stacks. NULL: no memory. */
json_t *sc_finding_read(const struct sc_finding *finding);

#endif
