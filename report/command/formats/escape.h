/* Writes text from outside into HTML, CSV and the like so that it is read as text and nothing else.
 * Control characters, and characters that change the direction of text, are written as everywhere
 * (report/plain.h). */
#ifndef SC_REPORT_COMMAND_FORMATS_ESCAPE_H
#define SC_REPORT_COMMAND_FORMATS_ESCAPE_H

#include <stdio.h>

/* Writes `text` for text and quoted attributes of HTML and XML. */
void sc_escape_markup(FILE *out, const char *text);

/* Writes `text` as a code span of Markdown: nothing in it becomes a link, a mention, HTML or the
 * end of the span. */
void sc_escape_markdown(FILE *out, const char *text);

/* Writes `text` with each byte that is in `harmful`, and '%', as %XX. */
void sc_escape_percent(FILE *out, const char *text, const char *harmful);

#endif
