/* What `safecopy help` prints. */
#ifndef SC_REPORT_COMMAND_HELP_H
#define SC_REPORT_COMMAND_HELP_H

/* Prints the page of a command, or of "options", to stdout; NULL: the list of commands. Returns the
 * exit status: SC_COMMAND_USAGE, after a message, if there is no such page. */
int sc_help_print(const char *page);

/* Returns the name of the command with this index; NULL past the last. */
const char *sc_help_command(unsigned index);

#endif
