/* What a report says of how the library came up. */
#ifndef SC_REPORT_COMMAND_DOCTOR_CAME_UP_H
#define SC_REPORT_COMMAND_DOCTOR_CAME_UP_H

#include "report/command/doctor/facts.h"
#include "report/command/scratch.h"

/* Reads the report at `path`, which need not be there, nor be a report. */
void sc_came_up_read(struct sc_came_up_facts *facts, struct sc_scratch *scratch, const char *path);

#endif
