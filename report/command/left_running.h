/* Finds the processes of a run that still run when its program has ended. */
#ifndef SC_REPORT_COMMAND_LEFT_RUNNING_H
#define SC_REPORT_COMMAND_LEFT_RUNNING_H

#include "report/command/run_roll.h"
#include "report/command/scratch.h"

/* Words such as "4711 (python3), 4712 (sleep)" for the processes that were started with the run's
 * roll in their environment and still run; NULL: there is none. A process that is just about to end
 * is given a moment for it. The words are the scratch's. */
const char *sc_left_running_find(struct sc_scratch *scratch, const struct sc_run_roll *roll);

#endif
