/* Finds a call in lines of source, and its arguments, by the function's name, brackets and commas
 * alone. The source is not parsed any further: the result is shown to people, who see the line as
 * well. */
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
    size_t line; /* the index of the line that has the name */
    size_t count;
    /* those of the arguments; for an argument over several lines, its part in the first line */
    struct sc_source_span spans[SC_SOURCE_ARGUMENTS_MAX];
    const char *arguments[SC_SOURCE_ARGUMENTS_MAX]; /* the arguments, with single blanks */
};

/* Finds the call of `name` in the line with index `line`, or else in the lines before it. Returns
 * false if it is not there, or does not end within the excerpt. */
bool sc_source_call_find(struct sc_source_call *call, struct sc_scratch *scratch,
                         const struct sc_excerpt *excerpt, size_t line, const char *name);

/* Finds `words` in a line, with no letter, digit or underscore directly before or after them.
 * Returns false if they are not there. */
bool sc_source_call_find_words(struct sc_source_span *span, const struct sc_excerpt *excerpt,
                               size_t line, const char *words);

#endif
