/* The filters of `safecopy report --filter`: which hazards are to be shown, as in
 * `code=SC2*,!function=upload*`. A term is KEY=PATTERN, with '!' before it for the contrary; commas
 * mean `and`. */
#ifndef SC_REPORT_COMMAND_FILTER_H
#define SC_REPORT_COMMAND_FILTER_H

#include "report/command/model.h"

#include <stdbool.h>

struct sc_filter;

/* Reads a filter. Returns NULL if it is wrong, after writing to stderr which term and which column.
 * The caller frees it. */
struct sc_filter *sc_filter_parse(const char *text);
void sc_filter_free(struct sc_filter *filter);

/* Returns true if the filter selects the hazard. NULL selects every hazard. */
bool sc_filter_takes(const struct sc_filter *filter, const struct sc_shown *hazard);

#endif
