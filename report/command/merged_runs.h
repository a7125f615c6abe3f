/* Merges the runs of a job of many ranks into one: adds up what their summaries count, and notes
 * which ranks differ. Memory grows with the differences, and not with the number of runs. */
#ifndef SC_REPORT_COMMAND_MERGED_RUNS_H
#define SC_REPORT_COMMAND_MERGED_RUNS_H

#include "report/command/rank_map.h"
#include "report/command/run_set.h"

#include <jansson.h>
#include <stddef.h>

/* The runs that have some property in common, and the name of the first one's report. */
struct sc_runs_alike {
    struct sc_run_set runs;
    char *file; /* NULL: there are none */
};

/* All zero is none. */
struct sc_merged_runs {
    json_t *record;   /* as in sc_reader.runs, of all; NULL: there are none */
    json_t *summary;  /* the sums */
    json_t *statuses; /* how many runs ended with each */
    size_t count;
    struct sc_rank_map ranks;
    struct sc_runs_alike not_ended, in_doubt, lost;
};

void sc_merged_runs_free(struct sc_merged_runs *merged);

/* Adds run `number`, which is larger than those added before. `run`: a record as in sc_reader.runs.
 */
void sc_merged_runs_add(struct sc_merged_runs *merged, size_t number, const json_t *run);

/* Returns the record of all runs, with the member
 *   "merged"  {"runs", "ended", "operations", "hazards", "exit_statuses"}, with "ranks" and
 *             "missing_ranks" where ranks are numbers, and "not_ended", "in_doubt" and "lost" where
 *             there are such: {"runs", "ranks", "file"}.
 * If a run has not ended, the summary is null. The caller decrefs it. NULL: there are no runs. */
json_t *sc_merged_runs_record(const struct sc_merged_runs *merged);

#endif
