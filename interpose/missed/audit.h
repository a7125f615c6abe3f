/* The audit: finds out by CUPTI whether every call that the driver performs comes through a
 * wrapper.
 *
 * If the option `cupti` allows it, CUPTI tells of the driver's asynchronous copies, memsets, frees
 * and captures (cupti_hooks). A call that no wrapper carried is reported with its stack. With
 * timeline=1 the audit also has CUPTI record when copies ran (copy_times.h).
 *
 * Thread-safe. CUPTI is called, and the loader's lock may be taken. Not for a signal handler. */
#ifndef SC_INTERPOSE_MISSED_AUDIT_H
#define SC_INTERPOSE_MISSED_AUDIT_H

#include <stdbool.h>

struct sc_report_totals;

/* Starts the audit. Called when CUDA has come up and the report is open. */
void sc_audit_start(void);

/* Around a profiler's call of CUPTI: when sc_audit_make_way returns, CUPTI is free for the
 * profiler. */
void sc_audit_make_way(void);
void sc_audit_made_way(void);

/* Called before another tool registers for activity records: on return, CUPTI makes no records for
 * us. */
void sc_audit_make_way_for_records(void);

/* The process ends, or goes on without us: no callback is answered from now on. Records still come.
 */
void sc_audit_close(void);

/* Stops the audit at the end of the process, after sc_audit_close. `unsubscribe`: also ends the
 * subscription to CUPTI. */
void sc_audit_stop(bool unsubscribe);

/* In a forked child: the audit is over there. */
void sc_audit_child(void);

/* Fills in what the summary says of missed calls. Needs totals->operations. */
void sc_audit_totals(struct sc_report_totals *totals);

#endif
