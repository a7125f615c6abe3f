/* Counts the driver calls that came through no wrapper, so that not each one gets a line of the
 * report. Calls of the same function and stack are counted together.
 *
 * A fixed table of plain data. Locks: the caller's lock guards the table. */

/* Terms (docs/glossary.md):
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_REPORT_MISSED_CALLS_H
#define SC_REPORT_MISSED_CALLS_H

#include "report/report.h"

enum { SC_MISSES_MAX = 256 };

/* Counts a driver call that the library did not see. Returns how many calls of its function and
 * stack there were so far; 0: the table is full, and the call is not counted. */
uint64_t sc_missed_calls_note(const struct sc_report_miss *miss);

/* Empties the table, in a forked child. */
void sc_missed_calls_forget(void);

#endif
