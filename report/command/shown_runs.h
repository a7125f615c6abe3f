/* Turns the records of runs into words (model.h). */
#ifndef SC_REPORT_COMMAND_SHOWN_RUNS_H
#define SC_REPORT_COMMAND_SHOWN_RUNS_H

#include "report/command/model.h"

/* Prepares the run of `entry`, a record as in sc_reader.runs. All is in the scratch or in the
 * entry. */
struct sc_run sc_shown_runs_make(struct sc_scratch *scratch, const struct sc_frame_makers *makers,
                                 json_t *entry);

#endif
