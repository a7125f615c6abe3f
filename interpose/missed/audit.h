/* The audit: does every call that the driver performs come through a wrapper?
 *
 * Where `cupti` says so, CUPTI tells of the driver's asynchronous copies, memsets, frees and
 * captures (cupti_hooks). A call that no wrapper carried is reported with its stack. With
 * timeline=1 the audit also has CUPTI record when copies ran (copy_times.h).
 *
 * Thread-safe. CUPTI is called, and the loader's lock may be taken. Not for a signal handler.
 */
#ifndef SC_INTERPOSE_MISSED_AUDIT_H
#define SC_INTERPOSE_MISSED_AUDIT_H

#include <stdbool.h>

struct sc_report_totals;

/* CUDA has come up, and the report is open. */
void sc_audit_start(void);

/* Around a profiler's call of CUPTI: CUPTI is the profiler's own when the first returns. */
void sc_audit_make_way(void);
void sc_audit_made_way(void);

/* A tool registers for activity records: CUPTI makes no records for us when this returns. */
void sc_audit_make_way_for_records(void);

/* The process ends, or goes on without us: no callback is heard any more. Records still come. */
void sc_audit_close(void);

/* After that: no records come either. With `unsubscribe` CUPTI is told so. */
void sc_audit_stop(bool unsubscribe);

/* In a forked child. */
void sc_audit_child(void);

/* Fills in what the summary says of missed calls. Needs totals->operations. */
void sc_audit_totals(struct sc_report_totals *totals);

#endif
