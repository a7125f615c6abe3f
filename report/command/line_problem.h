/* Finds what is wrong with a line of a report, so that a damaged line is not read as a good one.
 *
 * A line must have the members that decide how a run is judged; without them a damaged line would
 * look as if the run had done less. Other members may be missing, and unknown ones may be there. */
#ifndef SC_REPORT_COMMAND_LINE_PROBLEM_H
#define SC_REPORT_COMMAND_LINE_PROBLEM_H

#include <jansson.h>
#include <stdbool.h>

/* Returns true if `type` is a type of lines that this version writes. */
bool sc_line_problem_knows_type(const char *type);

/* Returns what is wrong with a line of a known type, in words; NULL: nothing. `is_later`: a later
 * version wrote the line, and may use words that this one does not know. */
const char *sc_line_problem_find(const json_t *line, bool is_later);

#endif
