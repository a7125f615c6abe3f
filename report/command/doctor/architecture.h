/* Names for the architectures of programs, which ELF numbers. */
#ifndef SC_REPORT_COMMAND_DOCTOR_ARCHITECTURE_H
#define SC_REPORT_COMMAND_DOCTOR_ARCHITECTURE_H

#include "report/command/scratch.h"

#include <stdbool.h>

/* Returns the name of the architecture: "x86-64" for EM_X86_64; "machine 42", in the scratch, for
 * one without a name here. */
const char *sc_architecture_name(struct sc_scratch *scratch, int machine, bool is_64_bit);

/* Returns the architecture of the command itself, which is one with 64 bits. */
int sc_architecture_own(void);

#endif
