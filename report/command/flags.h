/* Reads the flags of the commands, and reports wrong ones. */
#ifndef SC_REPORT_COMMAND_FLAGS_H
#define SC_REPORT_COMMAND_FLAGS_H

#include <stdbool.h>

enum { SC_FLAGS_WRONG = '?' };

/* Returns the letter of the next flag of the command argv[0], or -1 after the last one, as
 * getopt_long does. Returns SC_FLAGS_WRONG, after a message on stderr, if there is no such flag,
 * its value is missing, or it was given before with another value. */
int sc_flags_next(int argc, char **argv);

/* Returns true if the word is a flag of the command, with or without a value. */
bool sc_flags_has(const char *command, const char *word);

#endif
