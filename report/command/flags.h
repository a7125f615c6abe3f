/* Reads the flags of the commands, and says which are wrong. */
#ifndef SC_REPORT_COMMAND_FLAGS_H
#define SC_REPORT_COMMAND_FLAGS_H

#include <stdbool.h>

enum { SC_FLAGS_WRONG = '?' };

/* Returns the letter of the next flag of the command argv[0], or -1 behind the last, as getopt_long
 * does. SC_FLAGS_WRONG: there is no such flag, its value is missing, or it was given before with
 * another value; stderr was told. */
int sc_flags_next(int argc, char **argv);

/* Is it a flag of the command, with or without a value? */
bool sc_flags_has(const char *command, const char *word);

#endif
