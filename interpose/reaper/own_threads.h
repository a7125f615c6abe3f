/* Threads of the library's, in a process that is not the library's. */
#ifndef SC_INTERPOSE_REAPER_OWN_THREADS_H
#define SC_INTERPOSE_REAPER_OWN_THREADS_H

#include <stdbool.h>
#include <stddef.h>

/* Starts a detached thread. All signals but those of faults are blocked on the thread, so the
 * program's handlers do not run there. A stack of 0 bytes stands for what the program's threads
 * have. False: the system gives no thread. The C library is asked, which may wait for other threads
 * of the program's: no lock of the library's may be held. */
enum { SC_OWN_THREADS_SMALL = 256 * 1024 };
bool sc_own_threads_start(void *(*run)(void *), size_t stack_bytes);

/* The first call on such a thread, for good: the thread waits for none of the library's locks in a
 * fault, and what it asks of the driver disturbs no capture. The caller says SC_CARRY() itself. */
void sc_own_threads_enter(const char *name);

#endif
