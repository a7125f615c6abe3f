/* Counts the driver calls that passed the library by, so that not each one gets a line of the
 * report. Calls of the same function and stack are counted together.
 *
 * A fixed table of plain data. Locks: the caller's lock guards the table. */
#ifndef SC_REPORT_MISSED_CALLS_H
#define SC_REPORT_MISSED_CALLS_H

#include "report/report.h"

enum { SC_MISSES_MAX = 256 };

/* Counts the call. Returns how many calls of its function and stack there have been, or 0 when the
 * table is full and lacks this call. */
uint64_t sc_missed_calls_note(const struct sc_report_miss *miss);

/* Empties the table. */
void sc_missed_calls_forget(void);

#endif
