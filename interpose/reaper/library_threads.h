/* Starts threads of the library in the program's process. They take none of its signals. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 */

#ifndef SC_INTERPOSE_REAPER_LIBRARY_THREADS_H
#define SC_INTERPOSE_REAPER_LIBRARY_THREADS_H

#include <stdbool.h>
#include <stddef.h>

/* Starts a detached thread of the library, on which all signals are blocked. `stack_bytes` 0: the
 * default of the program's threads. False: the C library cannot create it. No lock of the library
 * may be held: to create a thread, the C library may wait for threads of the program, which may
 * want the lock. */
enum { SC_LIBRARY_THREADS_SMALL = 256 * 1024 };
bool sc_library_threads_start(void *(*run)(void *), size_t stack_bytes);

/* The first call of a thread that sc_library_threads_start has started: names the thread, and marks
 * it as the library's, so that it waits for no lock of the library in a fault. The caller must also
 * use SC_CARRY(), so that its driver calls are not counted as missed ones of the program. */
void sc_library_threads_enter(const char *name);

/* Does what sc_library_threads_enter does, for a thread that calls the driver: in the relaxed
 * capture mode its calls invalidate no stream capture. The driver allocates memory for such a
 * thread, and frees it on another thread when the process ends. */
void sc_library_threads_enter_driver(const char *name);

/* Blocks all signals, so that signals for the process go to the program's threads. To be called by
 * a thread of the library before it sleeps. */
void sc_library_threads_block_signals(void);

/* Unblocks the signals of faults that the thread may have, and no others. To be called before such
 * a thread works.
 *
 *  SIGSEGV     A page may be guarded, or an allocator of the program that the library calls may
 *              rely on its own handler. It stays blocked while a thread of the program blocks it,
 *              as no page is guarded then, and with guard=off.
 *  SIGSYS      The program has a handler, and the thread a filter that requests it (seccomp).
 *
 * Any other fault on such a thread ends the process, whether or not its signal is blocked. */
void sc_library_threads_unblock_signals(void);

#endif
