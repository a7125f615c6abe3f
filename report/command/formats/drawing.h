/* Draws SVG pictures, which are embedded in the HTML page. */
#ifndef SC_REPORT_COMMAND_FORMATS_DRAWING_H
#define SC_REPORT_COMMAND_FORMATS_DRAWING_H

#include "report/command/scratch.h"

#include <stddef.h>
#include <stdio.h>

/* Begins a picture of this size. Screen readers read out `title` and `shows` (what the picture
 * shows). `id`: unique in the page. */
void sc_drawing_begin(FILE *out, int width, int height, const char *id, const char *title,
                      const char *shows);
void sc_drawing_end(FILE *out);

/* Writes a text, cut between characters to at most `bytes_max` bytes. `more`: further attributes of
 * the element. */
void sc_drawing_put_text(FILE *out, struct sc_scratch *scratch, int x, int y, const char *more,
                         const char *text, size_t bytes_max);

#endif
