/* The flags of the commands, and what is said of wrong ones. */
#ifndef SC_REPORT_COMMAND_FLAGS_H
#define SC_REPORT_COMMAND_FLAGS_H

#include <stdbool.h>

enum { SC_FLAGS_WRONG = '?' };

/* As getopt_long of the command's flags, whose name is argv[0]: the letter of the next one, or -1
 * behind the last. SC_FLAGS_WRONG after it has said what is wrong: there is no such flag, its value
 * is missing, or a value was given before. */
int sc_flags_next(int argc, char **argv);

/* Is it a flag of the command, with or without a value? */
bool sc_flags_has(const char *command, const char *word);

#endif
