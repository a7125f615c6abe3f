/* Runs a program with the library, and finds out whether the library started in it. */
#ifndef SC_REPORT_COMMAND_DOCTOR_TRIAL_H
#define SC_REPORT_COMMAND_DOCTOR_TRIAL_H

#include "report/command/doctor/facts.h"
#include "report/command/scratch.h"

/* Runs argv[0] with `library`, as `safecopy run` does; what it writes to stdout goes to stderr.
 * `folder`: an empty folder of the caller's without ':' and '%' in its path; afterwards it has only
 * what the program itself put there. Changes the environment. To be called once, by the only
 * thread. */
void sc_trial_run(struct sc_trial_facts *facts, struct sc_scratch *scratch, char **argv,
                  const char *library, const char *folder);

#endif
