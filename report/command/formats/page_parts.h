/* Writes parts of the HTML page that several of its sections have. */
#ifndef SC_REPORT_COMMAND_FORMATS_PAGE_PARTS_H
#define SC_REPORT_COMMAND_FORMATS_PAGE_PARTS_H

#include "report/command/frames_shown.h"

#include <stdio.h>

/* Writes `open`, `text` and `close`; only `text` is escaped. */
void sc_page_part_put(FILE *out, const char *open, const char *text, const char *close);

/* Writes the frames, folded up; nothing for a stack without frames. */
void sc_page_part_put_stack(FILE *out, const struct sc_frames *stack);

#endif
