/* What the environment asks of the library. */
#ifndef SC_REPORT_COMMAND_DOCTOR_SETTINGS_H
#define SC_REPORT_COMMAND_DOCTOR_SETTINGS_H

#include "report/command/doctor/facts.h"
#include "report/command/scratch.h"

/* `program`: whose reports are meant, as it is called; NULL: anybody's. A file is made and removed
 * again where the report would be a new one. */
void sc_settings_look(struct sc_settings_facts *facts, struct sc_scratch *scratch,
                      const char *program);

#endif
