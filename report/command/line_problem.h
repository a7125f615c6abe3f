/* Finds what is wrong with a line of a report, so that a damaged line is not taken for a good
 * one.
 *
 * A line needs the members that decide how a run is judged: a damaged line that is taken for a good
 * one would pass for less than it tells of. Other members may be missing, and unknown ones may be
 * there. */
#ifndef SC_REPORT_COMMAND_LINE_PROBLEM_H
#define SC_REPORT_COMMAND_LINE_PROBLEM_H

#include <jansson.h>
#include <stdbool.h>

/* Is `type` a type of lines that this version writes? */
bool sc_line_problem_knows_type(const char *type);

/* What is wrong with a line of a known type, in words; NULL: nothing. `is_later`: a later version
 * wrote the line, and may use words that this one does not know. */
const char *sc_line_problem_find(const json_t *line, bool is_later);

#endif
