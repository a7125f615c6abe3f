/* The audit: does every call that the driver performs come through a wrapper?
 *
 * Where `cupti` says so, CUPTI tells of the driver's asynchronous copies, memsets, frees and
 * captures (cupti_hooks). What no wrapper carried is reported with its stack. With timeline=1 it
 * also has CUPTI record when copies ran (copy_times.h).
 */
#ifndef SC_INTERPOSE_MISSED_AUDIT_H
#define SC_INTERPOSE_MISSED_AUDIT_H

#include <stdbool.h>

#include "report/report.h"

/* CUDA has come up, and the report is open. */
void sc_audit_start(void);

/* A profiler comes: CUPTI is its own when the first returns; the second when it has asked CUPTI. */
void sc_audit_make_way(void);
void sc_audit_made_way(void);

/* A tool registers for activity records: CUPTI has none of ours when this returns. */
void sc_audit_make_way_for_records(void);

/* The process ends, or goes on without us: nothing is heard any more. Records still come. */
void sc_audit_close(void);

/* Nor do they; with `unsubscribe` CUPTI is told so. */
void sc_audit_stop(bool unsubscribe);

/* In a forked child. */
void sc_audit_child(void);

/* What the summary says of it; `operations` are those that were tracked. */
void sc_audit_totals(struct sc_report_totals *totals);

#endif
