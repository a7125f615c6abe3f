/* Prepares for exec, which replaces this program in the process by another. Thread-safe. */
#ifndef SC_INTERPOSE_SYSTEM_CALLS_EXEC_H
#define SC_INTERPOSE_SYSTEM_CALLS_EXEC_H

/* Writes all hazards that were found to disk, which may take 0.5 s, and unprotects all pages.
 * Signal-safe; errno is kept. Locks: takes the reaper's and the guard's, except in a signal handler
 * that has interrupted one of these. */
void sc_exec_prepare(void);

#endif
