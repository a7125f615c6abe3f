/* Finds the processes of a run that still run when its program has ended. */
#ifndef SC_REPORT_COMMAND_LEFT_RUNNING_H
#define SC_REPORT_COMMAND_LEFT_RUNNING_H

#include "report/command/run_roll.h"
#include "report/command/scratch.h"

/* Returns words such as "4711 (python3), 4712 (sleep)" for processes that still run and have the
 * run's roll in their environment; NULL: there is none. Waits a moment for a process that is just
 * ending. The words are in the scratch. */
const char *sc_left_running_find(struct sc_scratch *scratch, const struct sc_run_roll *roll);

#endif
