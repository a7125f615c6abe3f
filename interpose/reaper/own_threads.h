/* Threads of the library's, in a process that is not the library's. */
#ifndef SC_INTERPOSE_REAPER_OWN_THREADS_H
#define SC_INTERPOSE_REAPER_OWN_THREADS_H

#include <stdbool.h>

/* Starts a detached thread with a small stack. All signals but those of faults are blocked on the
 * thread, so the program's handlers do not run there. False: the system gives no thread. */
bool sc_own_threads_start(void *(*run)(void *));

/* The first call on such a thread, for good: the thread waits for none of the library's locks in a
 * fault, and what it asks of the driver disturbs no capture. The caller says SC_CARRY() itself. */
void sc_own_threads_enter(const char *name);

#endif
