/* The collecting half of `safecopy doctor` for the machine: its driver, CUDA libraries, GPUs, and
 * what the system permits. */
#ifndef SC_REPORT_COMMAND_DOCTOR_MACHINE_H
#define SC_REPORT_COMMAND_DOCTOR_MACHINE_H

#include "report/command/doctor/facts.h"
#include "report/command/scratch.h"

/* Finds out all of *facts. `folder`: an empty one of the caller's, for a report. `program`: the one
 * that is to run, or NULL. Starts processes that load the driver, and waits for each at most a
 * minute. Pre: this is the only thread. */
void sc_machine_look(struct sc_machine_facts *facts, struct sc_scratch *scratch, const char *folder,
                     const char *program);

#endif
