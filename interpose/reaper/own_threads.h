/* Threads of the library's, in a process that is not the library's. */
#ifndef SC_INTERPOSE_REAPER_OWN_THREADS_H
#define SC_INTERPOSE_REAPER_OWN_THREADS_H

#include <stdbool.h>
#include <stddef.h>

/* Starts a detached thread, on which all signals are blocked. A stack of 0 bytes stands for what
 * the program's threads have. False: the system gives no thread. The C library is asked, which may
 * wait for other threads of the program's: no lock of the library's may be held. */
enum { SC_OWN_THREADS_SMALL = 256 * 1024 };
bool sc_own_threads_start(void *(*run)(void *), size_t stack_bytes);

/* The first call on such a thread, for good: the thread waits for none of the library's locks in a
 * fault. The caller says SC_CARRY() itself. */
void sc_own_threads_enter(const char *name);

/* The same on a thread that calls the driver: what it asks disturbs no capture. The driver
 * allocates words for the thread, and frees them on another one when the process ends. */
void sc_own_threads_enter_driver(const char *name);

/* The thread is about to sleep: no signal comes to it. What is sent to the process is the program's
 * threads' to take. */
void sc_own_threads_close(void);

/* The thread is about to work: opens it for the signals of faults that it may have, and for no
 * other.
 *
 *     SIGSEGV     A page may be guarded, or an allocator of the program's that we call has a
 *                 handler. Blocked where a thread of the program's blocks it, as nothing is guarded
 *                 then, and with guard=off.
 *     SIGSYS      The program has a handler, and the thread a filter that asks for it (seccomp).
 *
 * Any other fault on such a thread ends the process, whether or not its signal is blocked. */
void sc_own_threads_open(void);

#endif
