/* Pictures in SVG, which stand in the page itself. */
#ifndef SC_REPORT_COMMAND_FORMATS_DRAWING_H
#define SC_REPORT_COMMAND_FORMATS_DRAWING_H

#include "report/command/scratch.h"

#include <stddef.h>
#include <stdio.h>

/* Begins a picture of this size, which is read out as its title and what it shows. `id` is the
 * page's alone. */
void sc_drawing_begin(FILE *out, int width, int height, const char *id, const char *title,
                      const char *shows);
void sc_drawing_end(FILE *out);

/* A text of at most so many bytes, cut between characters; `more`: attributes. */
void sc_drawing_put_text(FILE *out, struct sc_scratch *scratch, int x, int y, const char *more,
                         const char *text, size_t bytes_max);

#endif
