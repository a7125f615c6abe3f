/* What the summary says of the guard.
 *
 * No lock; thread safe and signal safe.
 */
#ifndef SC_INTERPOSE_GUARD_GUARD_TOTALS_H
#define SC_INTERPOSE_GUARD_GUARD_TOTALS_H

#include "report/report.h"

struct sc_report_guard sc_guard_totals_get(void);

#endif
