/* Finds out what the environment asks of the library, and whether the report could be written. */
#ifndef SC_REPORT_COMMAND_DOCTOR_SETTINGS_H
#define SC_REPORT_COMMAND_DOCTOR_SETTINGS_H

#include "report/command/doctor/facts.h"
#include "report/command/scratch.h"

/* Fills in *facts. `program`: the program whose reports are meant, as it is called; NULL: any. If
 * the report would be a new file, one is made and removed again. */
void sc_settings_look(struct sc_settings_facts *facts, struct sc_scratch *scratch,
                      const char *program);

#endif
