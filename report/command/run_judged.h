/* A run whose processes the command looks after: it shows what they have reported (--format), and
 * judges all of them (strict=1), since who started a process may pay no heed to its status.
 */
#ifndef SC_REPORT_COMMAND_RUN_JUDGED_H
#define SC_REPORT_COMMAND_RUN_JUDGED_H

#include "report/command/run_work.h"

/* Returns the status to end with. */
int sc_run_judged(struct sc_run_work *work, char **program);

#endif
