/* The audit: finds out by CUPTI whether every call that the driver performs has passed through a
 * wrapper.
 *
 * If the option `cupti` allows it, CUPTI reports the driver's asynchronous copies, memsets, frees
 * and captures (cupti_hooks). A call that no wrapper made is reported with its stack. With
 * timeline=1 the audit also has CUPTI record when copies ran (copy_times.h).
 *
 * Thread-safe. Calls CUPTI, and may take the loader's lock. Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   audit: the comparison of the driver calls that CUPTI shows with those that wrappers carried
 *   miss: a driver call that came through no wrapper
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_MISSED_AUDIT_H
#define SC_INTERPOSE_MISSED_AUDIT_H

#include <stdbool.h>

struct sc_report_totals;

/* Subscribes to CUPTI, if the options need it, so that calls outside of all wrappers are noticed.
 * Called when CUDA has been initialised and the report is open. */
void sc_audit_start(void);

/* Called before a profiler's call of CUPTI: ends the library's use of CUPTI, so that the profiler
 * can use it. After the call sc_cupti_tool_came is called. */
void sc_audit_make_way(void);

/* Stops CUPTI's records for the library. Called before another tool registers for activity records.
 */
void sc_audit_make_way_for_records(void);

/* Called when the process ends, or the library stops working: ignores CUPTI's callbacks from now
 * on. Records still come. */
void sc_audit_close(void);

/* Stops the audit (the library's use of CUPTI) at the end of the process, after sc_audit_close.
 * `unsubscribe`: also ends the subscription to CUPTI. */
void sc_audit_stop(bool unsubscribe);

/* Called in a forked child, where CUPTI does not work: ends the audit without a call of CUPTI. */
void sc_audit_child(void);

/* Fills in the summary's figures of missed calls. Needs totals->operations. */
void sc_audit_totals(struct sc_report_totals *totals);

#endif
