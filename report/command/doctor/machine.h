/* Collects the facts about the machine for `safecopy doctor`: its driver, CUDA libraries, GPUs, and
 * what the system permits. */
#ifndef SC_REPORT_COMMAND_DOCTOR_MACHINE_H
#define SC_REPORT_COMMAND_DOCTOR_MACHINE_H

#include "report/command/doctor/facts.h"
#include "report/command/scratch.h"

/* Fills in *facts. `folder`: an empty folder of the caller's, for a report. `program`: the program
 * that is to run, or NULL. Starts processes that load the driver, and waits for each a minute at
 * most. Pre: this is the only thread. */
void sc_machine_look(struct sc_machine_facts *facts, struct sc_scratch *scratch, const char *folder,
                     const char *program);

#endif
