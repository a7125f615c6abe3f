/* Compares the hazard lines of one run with the counts in its summary, to find out whether lines
 * are missing.
 *
 * A line is written only when the count of a hazard has doubled. So the lines of a code tell how
 * many hazards there were at least, and how many there may have been before the next line was due.
 */
#ifndef SC_REPORT_COMMAND_TALLIES_H
#define SC_REPORT_COMMAND_TALLIES_H

#include "report/command/findings.h"

/* Returns true if the lines of the run so far tell of more hazards than the summary that follows
 * them counts (`by_code`). */
bool sc_tallies_exceed(const struct sc_findings *findings, const json_t *by_code);

/* Makes the counts of the run exact as far as the summary's `by_code` (NULL: none) allows, and
 * marks counts that may be too low. Returns false if there were, or may have been, hazards that no
 * line tells of. */
bool sc_tallies_read_summary(struct sc_findings *findings, json_t *by_code);

#endif
