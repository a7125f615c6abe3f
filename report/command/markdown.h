/* Converts the project's own Markdown to plain text, for people at a terminal. */
#ifndef SC_REPORT_COMMAND_MARKDOWN_H
#define SC_REPORT_COMMAND_MARKDOWN_H

#include <stddef.h>
#include <stdio.h>

/* Writes `text` as plain text: headings, emphasis, code and links become their words, and blocks of
 * code are indented. Pre: `text` begins a line, outside of a block of code. */
void sc_markdown_put_plain(FILE *out, const char *text, size_t length);

#endif
