/* Reads from a report whether and how the library started in a process. */
#ifndef SC_REPORT_COMMAND_DOCTOR_CAME_UP_H
#define SC_REPORT_COMMAND_DOCTOR_CAME_UP_H

#include "report/command/doctor/facts.h"
#include "report/command/scratch.h"

/* Reads the file at `path` and fills in *facts. The file need not exist, nor be a report. */
void sc_came_up_read(struct sc_came_up_facts *facts, struct sc_scratch *scratch, const char *path);

#endif
