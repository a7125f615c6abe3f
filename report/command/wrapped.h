/* Wraps text for people at a terminal, in lines as wide as the docs are. */
#ifndef SC_REPORT_COMMAND_WRAPPED_H
#define SC_REPORT_COMMAND_WRAPPED_H

#include <stddef.h>
#include <stdio.h>

enum { SC_WRAPPED_WIDTH = 100 };

/* Writes the words of `text` with one blank between them, in lines of that width, unless a word is
 * longer; a newline follows the last one. */
void sc_wrapped_put(FILE *out, const char *text, size_t length);

#endif
