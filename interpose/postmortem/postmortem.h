/* The post-mortem: what the process did before it learnt that its context is lost.
 *
 * The first call that returns an error after which the context is unusable (cuda.h) has one line
 * written at once (docs/report.md). There is one such line in a process. What the line says is the
 * history that hooks and wrappers keep (interpose/base/recently.h) and what the tracker knows to be
 * done; the driver is not asked. sc_postmortem_failed (interpose/base/upcalls.h) is how wrappers
 * get here.
 *
 * Locks: none of the library may be held; the loader's and the report's are taken. Thread safe, not
 * signal safe.
 */
#ifndef SC_INTERPOSE_POSTMORTEM_POSTMORTEM_H
#define SC_INTERPOSE_POSTMORTEM_POSTMORTEM_H

/* The program aborts, by a call that returns to `site`: the same line, unless there is one. */
void sc_postmortem_aborts(void *site);

/* The process is about to end: waits for the thread that is writing the line, but not for long. */
void sc_postmortem_await(void);

#endif
