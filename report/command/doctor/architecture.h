/* Names for the architectures of programs, which ELF numbers. */
#ifndef SC_REPORT_COMMAND_DOCTOR_ARCHITECTURE_H
#define SC_REPORT_COMMAND_DOCTOR_ARCHITECTURE_H

#include "report/command/scratch.h"

#include <stdbool.h>

/* "x86-64" for EM_X86_64; "machine 42", in the scratch, for what has no name here. */
const char *sc_architecture_name(struct sc_scratch *scratch, int machine, bool is_64_bit);

/* That of the command itself, which has 64 bits. */
int sc_architecture_own(void);

#endif
