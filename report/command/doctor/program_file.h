/* Finds out what a program's files are: the program itself, and the interpreters if it is a
 * script. */
#ifndef SC_REPORT_COMMAND_DOCTOR_PROGRAM_FILE_H
#define SC_REPORT_COMMAND_DOCTOR_PROGRAM_FILE_H

#include "report/command/doctor/facts.h"
#include "report/command/scratch.h"

/* Looks at `program`, found as execvp finds it, and fills in *facts. Starts nothing. */
void sc_program_file_look(struct sc_program_facts *facts, struct sc_scratch *scratch,
                          const char *program);

#endif
