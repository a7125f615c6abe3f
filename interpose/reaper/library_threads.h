/* Starts threads of the library's own in the program's process, which take none of its signals. */
#ifndef SC_INTERPOSE_REAPER_LIBRARY_THREADS_H
#define SC_INTERPOSE_REAPER_LIBRARY_THREADS_H

#include <stdbool.h>
#include <stddef.h>

/* Starts a detached thread, on which all signals are blocked. `stack_bytes` 0: as much as the
 * program's threads have. False: the system gives no thread. The C library may wait for threads of
 * the program's in this call: no lock of the library's may be held. */
enum { SC_LIBRARY_THREADS_SMALL = 256 * 1024 };
bool sc_library_threads_start(void *(*run)(void *), size_t stack_bytes);

/* The first call on such a thread: names it, and has it wait for no lock of the library's in a
 * fault. The caller says SC_CARRY() itself. */
void sc_library_threads_enter(const char *name);

/* The same on a thread that calls the driver: its calls disturb no capture. The driver allocates
 * memory for the thread, and frees it on another one when the process ends. */
void sc_library_threads_enter_driver(const char *name);

/* To be called by such a thread before it sleeps: blocks all signals, so that signals for the
 * process go to the program's threads. */
void sc_library_threads_block_signals(void);

/* The thread is about to work: lets in the signals of faults that it may have, and no others.
 *
 *     SIGSEGV     A page may be guarded, or an allocator of the program's that we call may rely on
 *                 its own handler. It stays blocked while a thread of the program's blocks it, as
 *                 nothing is guarded then, and with guard=off.
 *     SIGSYS      The program has a handler, and the thread a filter that asks for it (seccomp).
 *
 * Any other fault on such a thread ends the process, whether or not its signal is blocked. */
void sc_library_threads_unblock_signals(void);

#endif
