/* What `safecopy help` prints. */
#ifndef SC_REPORT_COMMAND_HELP_H
#define SC_REPORT_COMMAND_HELP_H

/* The page of a command, or of "options"; NULL: the list of commands. To stdout. Returns the status
 * to end with: SC_COMMAND_USAGE after it has said that there is no such page. */
int sc_help_print(const char *page);

/* The commands, up to a NULL. */
const char *sc_help_command(unsigned index);

#endif
