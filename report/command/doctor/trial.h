/* Runs a program with the library, and finds out whether the library came up in it. */
#ifndef SC_REPORT_COMMAND_DOCTOR_TRIAL_H
#define SC_REPORT_COMMAND_DOCTOR_TRIAL_H

#include "report/command/doctor/facts.h"
#include "report/command/scratch.h"

/* Runs argv[0] as `safecopy run` does, with `library`; what it writes to stdout goes to stderr.
 * `folder` is empty, the caller's and without ':' and '%' in its path; it is empty again after, but
 * for what the program itself has put there. Changes the environment. To be called by the only
 * thread, once. */
void sc_trial_run(struct sc_trial_facts *facts, struct sc_scratch *scratch, char **argv,
                  const char *library, const char *folder);

#endif
