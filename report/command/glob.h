/* Matches a whole string against a pattern with * and ?, as suppressions have them. */
#ifndef SC_REPORT_COMMAND_GLOB_H
#define SC_REPORT_COMMAND_GLOB_H

#include "report/suppressions.h"

#include <string.h>

/* Does the text match the pattern, in which * is any text and ? one byte? */
static inline bool sc_glob_matches(const char *pattern, const char *text)
{
    return sc_suppressions_glob((struct sc_part){pattern, strlen(pattern)}, text);
}

#endif
