/* Runs a program for `safecopy run` with --format or --strict: shows what its processes have
 * reported, and judges all of them, since a process that started another may ignore its status. */
#ifndef SC_REPORT_COMMAND_RUN_JUDGED_H
#define SC_REPORT_COMMAND_RUN_JUDGED_H

#include "report/command/run_work.h"

/* Returns the status to end with. */
int sc_run_judged(struct sc_run_work *work, char **program);

#endif
