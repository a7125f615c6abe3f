/* Draws pictures in SVG, which stand within the HTML page. */
#ifndef SC_REPORT_COMMAND_FORMATS_DRAWING_H
#define SC_REPORT_COMMAND_FORMATS_DRAWING_H

#include "report/command/scratch.h"

#include <stddef.h>
#include <stdio.h>

/* Begins a picture of this size. `title`, and `shows` (what it shows), are read out by screen
 * readers. `id`: one that the page has once. */
void sc_drawing_begin(FILE *out, int width, int height, const char *id, const char *title,
                      const char *shows);
void sc_drawing_end(FILE *out);

/* Writes a text, cut between characters to at most `bytes_max` bytes. `more`: further attributes of
 * the element. */
void sc_drawing_put_text(FILE *out, struct sc_scratch *scratch, int x, int y, const char *more,
                         const char *text, size_t bytes_max);

#endif
