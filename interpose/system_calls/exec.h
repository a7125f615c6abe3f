/* Another program is about to run in this process. Thread-safe. */
#ifndef SC_INTERPOSE_SYSTEM_CALLS_EXEC_H
#define SC_INTERPOSE_SYSTEM_CALLS_EXEC_H

/* Writes what was found, which may take 0.5 s, and lets go of every page. Signal safe; errno is
 * kept. Locks: the reaper's and the guard's inside, and none where a signal handler interrupted
 * one. */
void sc_exec_prepare(void);

#endif
