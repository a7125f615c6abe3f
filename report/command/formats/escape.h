/* Writes text from outside in HTML, CSV and the like so that it is taken for text and nothing else.
 * Control characters and what turns the direction of text are shown as everywhere
 * (report/plain.h). */
#ifndef SC_REPORT_COMMAND_FORMATS_ESCAPE_H
#define SC_REPORT_COMMAND_FORMATS_ESCAPE_H

#include <stdio.h>

/* For text and quoted attributes of HTML and XML. */
void sc_escape_markup(FILE *out, const char *text);

/* A code span of Markdown: nothing inside is a link, a mention, HTML or an end of the span. */
void sc_escape_markdown(FILE *out, const char *text);

/* Writes `text` with each byte that is in `harmful`, and '%', as %XX. */
void sc_escape_percent(FILE *out, const char *text, const char *harmful);

#endif
