/* Our own Markdown as plain text, for people at a terminal. */
#ifndef SC_REPORT_COMMAND_MARKDOWN_H
#define SC_REPORT_COMMAND_MARKDOWN_H

#include <stddef.h>
#include <stdio.h>

/* Headings, emphasis, code and links become their words, blocks of code are indented. `text` begins
 * a line, and no block of code is open there. */
void sc_markdown_put_plain(FILE *out, const char *text, size_t length);

#endif
