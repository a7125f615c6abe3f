/* Writes parts of the HTML page that stand in several of its sections. */
#ifndef SC_REPORT_COMMAND_FORMATS_PAGE_PARTS_H
#define SC_REPORT_COMMAND_FORMATS_PAGE_PARTS_H

#include "report/command/frames_shown.h"

#include <stdio.h>

/* `text` is escaped, and what stands around it is not. */
void sc_page_part_put(FILE *out, const char *open, const char *text, const char *close);

/* The frames, folded up; nothing of a stack without any. */
void sc_page_part_put_stack(FILE *out, const struct sc_frames *stack);

#endif
