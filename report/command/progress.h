/* Shows how far the command is, on stderr, if that is a terminal and the work takes longer than two
 * seconds. */
#ifndef SC_REPORT_COMMAND_PROGRESS_H
#define SC_REPORT_COMMAND_PROGRESS_H

#include <stddef.h>

/* Shows "lines read 12345"; cheap enough to be called for each line. */
void sc_progress_show(const char *what, size_t count);

/* Takes the line away, so that others can be written. */
void sc_progress_hide(void);

#endif
