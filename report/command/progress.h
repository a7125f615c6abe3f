/* Shows on stderr how much the command has done, if that is a terminal and the work takes longer
 * than two seconds. */
#ifndef SC_REPORT_COMMAND_PROGRESS_H
#define SC_REPORT_COMMAND_PROGRESS_H

#include <stddef.h>

/* Shows "lines read 12345"; cheap enough to be called for each line. */
void sc_progress_show(const char *what, size_t count);

/* Removes the line, so that other lines can be written. */
void sc_progress_hide(void);

#endif
