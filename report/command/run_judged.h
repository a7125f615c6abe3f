/* Runs a program for `safecopy run` with --format or --strict: shows what all its processes have
 * reported, and judges all of them, since a process that starts another one may ignore its exit
 * status. */
#ifndef SC_REPORT_COMMAND_RUN_JUDGED_H
#define SC_REPORT_COMMAND_RUN_JUDGED_H

#include "report/command/run_work.h"

/* Runs the program, and returns the status to exit with. */
int sc_run_judged(struct sc_run_work *work, char **program);

#endif
