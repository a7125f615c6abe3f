/* Prepares for exec, which replaces this program in the process by another. Thread-safe. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   reaper: the library's thread that judges hazards, reports them and frees held memory
 */

#ifndef SC_INTERPOSE_SYSTEM_CALLS_EXEC_H
#define SC_INTERPOSE_SYSTEM_CALLS_EXEC_H

/* Called before an exec: writes all hazards that were found to disk, which may take 0.5 s, as they
 * would be lost with this program. Unprotects all pages, as Linux reads arguments and environment.
 * Signal-safe; errno is kept. Locks: takes the reaper's and the guard's, except in a signal handler
 * that has interrupted one of these. */
void sc_exec_prepare(void);

#endif
