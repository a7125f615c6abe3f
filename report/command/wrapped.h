/* Wraps text for people at a terminal. */
#ifndef SC_REPORT_COMMAND_WRAPPED_H
#define SC_REPORT_COMMAND_WRAPPED_H

#include <stddef.h>
#include <stdio.h>

enum { SC_WRAPPED_WIDTH = 100 };

/* Writes the words of `text`, separated by single blanks, in lines of SC_WRAPPED_WIDTH columns
 * (longer only if a word is), and a newline after the last one. */
void sc_wrapped_put(FILE *out, const char *text, size_t length);

#endif
