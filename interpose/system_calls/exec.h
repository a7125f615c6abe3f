/* What is to be done before another program replaces this one in the process (exec).
 * Thread-safe. */
#ifndef SC_INTERPOSE_SYSTEM_CALLS_EXEC_H
#define SC_INTERPOSE_SYSTEM_CALLS_EXEC_H

/* Writes what was found to disk, which may take 0.5 s, and lets go of every page. Signal safe;
 * errno is kept. Locks: the reaper's and the guard's, except in a signal handler that interrupted
 * one of these. */
void sc_exec_prepare(void);

#endif
