/* What the files of a program are: itself, and the interpreters of scripts. */
#ifndef SC_REPORT_COMMAND_DOCTOR_PROGRAM_FILE_H
#define SC_REPORT_COMMAND_DOCTOR_PROGRAM_FILE_H

#include "report/command/doctor/facts.h"
#include "report/command/scratch.h"

/* Looks at `program`, which is found as execvp finds it, and starts nothing. */
void sc_program_file_look(struct sc_program_facts *facts, struct sc_scratch *scratch,
                          const char *program);

#endif
