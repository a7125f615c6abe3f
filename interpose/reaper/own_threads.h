/* Threads of ours, in a process that is not ours. */
#ifndef SC_INTERPOSE_REAPER_OWN_THREADS_H
#define SC_INTERPOSE_REAPER_OWN_THREADS_H

#include <stdbool.h>

/* A detached thread with a small stack. The program's signal handlers do not run on it; a fault
 * that is blocked would kill. False: the system gives none. */
bool sc_own_threads_start(void *(*run)(void *));

/* The first call on it, for good: the hooks stand aside, and what it asks of the driver disturbs no
 * capture. The caller says SC_CARRY() itself. */
void sc_own_threads_enter(const char *name);

#endif
