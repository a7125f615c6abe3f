/* Finds a call in lines of source, by its function's name and by brackets and commas alone: what
 * the program wrote there, and which part of it an argument is. Names of functions and variables
 * are as the source has them. The result is for people, who see the line as well. */
#ifndef SC_REPORT_COMMAND_SOURCE_CALL_H
#define SC_REPORT_COMMAND_SOURCE_CALL_H

#include "report/command/excerpts.h"
#include "report/command/scratch.h"

#include <stdbool.h>
#include <stddef.h>

enum { SC_SOURCE_ARGUMENTS_MAX = 10 };

/* Bytes of one line of an excerpt. */
struct sc_source_span {
    size_t line, from, to; /* `line` by index */
};

struct sc_source_call {
    size_t line; /* by index: where the name stands */
    size_t count;
    struct sc_source_span spans[SC_SOURCE_ARGUMENTS_MAX]; /* of the arguments; of one that goes on
                                                           * in another line its first line */
    const char *arguments[SC_SOURCE_ARGUMENTS_MAX];       /* with single blanks */
};

/* Finds the call of `name` in the line at index `line`, else in those before it. False: it is not
 * there, or its last argument is not. */
bool sc_source_call_find(struct sc_source_call *call, struct sc_scratch *scratch,
                         const struct sc_excerpt *excerpt, size_t line, const char *name);

/* Finds `words` in a line as a whole, with no letter, digit or underscore before or behind. */
bool sc_source_call_find_words(struct sc_source_span *span, const struct sc_excerpt *excerpt,
                               size_t line, const char *words);

#endif
