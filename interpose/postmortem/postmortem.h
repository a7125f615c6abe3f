/* Writes the post-mortem: a line of the report that says what the process had in flight and did
 * last, when it learns that its context is lost.
 *
 * The line is written as soon as a call returns an error that makes the context unusable (cuda.h;
 * docs/report.md). A process writes one such line at most. It has the history that hooks and
 * wrappers keep (interpose/base/recently.h), and what the tracker knows to be done; the driver is
 * not asked. Wrappers call sc_postmortem_failed (interpose/base/upcalls.h).
 *
 * Locks: none of the library's may be held; takes the loader's and the report's. Thread-safe, not
 * signal-safe. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 *   in flight: issued, and the host does not know yet that it is done
 *   post-mortem: the report's line that says what was in flight when a context was lost
 *   site: the address to which a hook or wrapper returns: the program's call
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_POSTMORTEM_POSTMORTEM_H
#define SC_INTERPOSE_POSTMORTEM_POSTMORTEM_H

/* Writes the line, unless it is written: the program aborts, by a call whose return address is
 * `site`. Called before the process ends by that. */
void sc_postmortem_write_on_abort(void *site);

/* Waits, for two seconds at most, for a thread that is writing the line. Called when the process is
 * about to end. */
void sc_postmortem_await(void);

#endif
