/* Patterns as the shell has them: '*' is any bytes, '/' too, and '?' is one byte. */
#ifndef SC_REPORT_COMMAND_GLOB_H
#define SC_REPORT_COMMAND_GLOB_H

#include <stdbool.h>

/* Whether the pattern describes all of `text`. Takes no longer than the product of the lengths. */
bool sc_glob_matches(const char *pattern, const char *text);

#endif
