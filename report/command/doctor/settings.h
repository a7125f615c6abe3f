/* Finds out what the environment asks of the library, and whether the report could be written. */
#ifndef SC_REPORT_COMMAND_DOCTOR_SETTINGS_H
#define SC_REPORT_COMMAND_DOCTOR_SETTINGS_H

#include "report/command/doctor/facts.h"
#include "report/command/scratch.h"

/* Fills in *facts. `program`: the program whose report is meant, as the user calls it; NULL: any.
 * If the report would be a new file, creates and removes it. */
void sc_settings_look(struct sc_settings_facts *facts, struct sc_scratch *scratch,
                      const char *program);

#endif
