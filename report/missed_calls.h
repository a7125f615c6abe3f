/* The calls that passed the library by, equal ones counted together. A fixed table, plain data; the
 * caller's lock guards it.
 */
#ifndef SC_REPORT_MISSED_CALLS_H
#define SC_REPORT_MISSED_CALLS_H

#include "report/report.h"

enum { SC_MISSES_MAX = 256 };

/* Counts the call: how many of the same function and stack there have been, 0 when the table is
 * full and this one is not in it. */
uint64_t sc_missed_calls_note(const struct sc_report_miss *miss);

void sc_missed_calls_forget(void);

#endif
