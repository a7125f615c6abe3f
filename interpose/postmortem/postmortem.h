/* Writes the post-mortem: the line of the report that says what the process had in flight and did
 * last when it learns that its context is lost.
 *
 * When the first call returns an error that makes the context unusable (cuda.h), one line is
 * written at once (docs/report.md). A process writes one such line at most. The line has the
 * history that hooks and wrappers keep (interpose/base/recently.h) and what the tracker knows to be
 * done; the driver is not asked. Wrappers get here by sc_postmortem_failed
 * (interpose/base/upcalls.h).
 *
 * Locks: none of the library's may be held; the loader's and the report's are taken. Thread-safe,
 * not signal-safe. */
#ifndef SC_INTERPOSE_POSTMORTEM_POSTMORTEM_H
#define SC_INTERPOSE_POSTMORTEM_POSTMORTEM_H

/* The program aborts, by a call that returns to `site`: writes the line, unless it is written. */
void sc_postmortem_write_on_abort(void *site);

/* The process is about to end: waits, for two seconds at most, for the thread that is writing the
 * line. */
void sc_postmortem_await(void);

#endif
