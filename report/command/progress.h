/* How far the command is, on stderr if that is a terminal and it takes longer than two seconds. */
#ifndef SC_REPORT_COMMAND_PROGRESS_H
#define SC_REPORT_COMMAND_PROGRESS_H

#include <stddef.h>

/* "lines read 12345"; cheap, and meant to be called for each. */
void sc_progress_show(const char *what, size_t count);

/* Takes the line away, so that others can be written. */
void sc_progress_hide(void);

#endif
