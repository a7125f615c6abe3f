/* What there is on this machine. */
#ifndef SC_REPORT_COMMAND_DOCTOR_MACHINE_H
#define SC_REPORT_COMMAND_DOCTOR_MACHINE_H

#include "report/command/doctor/facts.h"
#include "report/command/scratch.h"

/* Finds it all out; `folder` is empty and the caller's, for a report. `program` is the one that is
 * to run, and may be NULL. Starts processes that load the driver, and waits for these a minute each
 * at most. To be called by the only thread. */
void sc_machine_look(struct sc_machine_facts *facts, struct sc_scratch *scratch, const char *folder,
                     const char *program);

#endif
