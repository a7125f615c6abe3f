/* What `safecopy help` prints. */
#ifndef SC_REPORT_COMMAND_HELP_H
#define SC_REPORT_COMMAND_HELP_H

/* Prints the page of a command, or of "options", to stdout; NULL: the list of commands. Returns the
 * status to end with: SC_COMMAND_USAGE if there is no such page, after saying so. */
int sc_help_print(const char *page);

/* The commands, up to a NULL. */
const char *sc_help_command(unsigned index);

#endif
