/* Starts the process that loads and questions the driver (ask.h), and reads its answers. */
#ifndef SC_REPORT_COMMAND_DOCTOR_ASKED_H
#define SC_REPORT_COMMAND_DOCTOR_ASKED_H

#include "report/command/doctor/facts.h"
#include "report/command/scratch.h"

/* Starts the child without a preload. `library`: libunwind is looked for next to it first; may be
 * NULL. */
void sc_asked_plainly(struct sc_asked_facts *facts, struct sc_scratch *scratch,
                      const char *library);

/* Starts the child with `library` preloaded. The library writes its report to `report_path`. */
void sc_asked_preloaded(struct sc_asked_facts *facts, struct sc_scratch *scratch,
                        const char *library, const char *report_path);

#endif
