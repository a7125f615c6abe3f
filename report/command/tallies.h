/* Compares the hazard lines of one run with the counts in its summary, to tell whether lines are
 * missing.
 *
 * A line is written only when the count of a hazard has doubled. So lines say of a code how many
 * hazards there were at least, and how many there may have been before the next line was due. */
#ifndef SC_REPORT_COMMAND_TALLIES_H
#define SC_REPORT_COMMAND_TALLIES_H

#include "report/command/findings.h"

/* Do the lines of the run so far tell of more hazards than a summary that follows them counts
 * (`by_code`)? */
bool sc_tallies_exceed(const struct sc_findings *findings, const json_t *by_code);

/* Makes the counts of the run exact, where the summary's `by_code` (NULL: none) says enough, and
 * says what may be more. False: there were, or may have been, hazards of which no line tells. */
bool sc_tallies_read_summary(struct sc_findings *findings, json_t *by_code);

#endif
