/* Finds threads that really block SIGSEGV, by /proc: if one of them touched a guarded page, the
 * kernel would kill the process.
 *
 * While SIGSEGV is shared no mask call of the C library really blocks it (signal_mask.h). A thread
 * that is found here blocked it before, or by a system call of the program's own. Threads that run
 * no code of the program's do not count: the kernel's io_uring workers, the C library's helper of
 * timers, our own (interpose/reaper/library_threads.h), and the driver's, which inherit the mask of
 * the thread that initialised the driver. (Before one of these runs a host function its mask is
 * seen to.) Without /proc nothing is found.
 *
 * Thread-safe. No lock; errno is kept. Not for a signal handler.
 */
#ifndef SC_INTERPOSE_SIGNALS_BLOCKED_THREADS_H
#define SC_INTERPOSE_SIGNALS_BLOCKED_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* Is there such a thread? The answer may be as old as the last look. A look takes some 20 us for
 * each thread; looks are so rare that they cost a thousandth of the time (a sixty-fourth while
 * there is such a thread). A thread that the C library may just be starting or ending is waited
 * for, two seconds at most, until it has run and still blocks SIGSEGV. No signal is blocked
 * meanwhile. */
bool sc_blocked_threads_any(void);

/* What sc_blocked_threads_any answered last, without a look. Signal-safe. */
bool sc_blocked_threads_were_found(void);

/* Is there such a thread, by a look made now? */
bool sc_blocked_threads_check_now(void);

/* Sets *blocks: does the thread, of whatever kind, really block SIGSEGV now? False: it is no thread
 * of this process (another process may share its memory), or it has ended. Some microseconds. */
bool sc_blocked_threads_find(int32_t thread, bool *blocks);

/* Notes that the calling thread is one of the driver's, which does not count as blocking
 * SIGSEGV. */
void sc_blocked_threads_leave_out(void);

#endif
