/* Finds threads that really block SIGSEGV, by /proc. If such a thread touched a page that mprotect
 * guards, Linux would kill the process.
 *
 * "Really" means in the mask that Linux has: while SIGSEGV is shared (sharing.h), the C library's
 * mask functions do not put it there, and the program only believes it blocked (signal_mask.h). A
 * thread that is found here blocked SIGSEGV before, or by a system call of its own. Threads that
 * run no code of the program do not count: Linux's io_uring workers, the C library's timer thread,
 * the library's threads (interpose/reaper/library_threads.h), and the driver's, which inherit the
 * mask of the thread that initialised the driver. (The library unblocks SIGSEGV on a driver's
 * thread before that runs a host function.) Without /proc no thread is found.
 *
 * Thread-safe. No lock; errno is kept. Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   reaper: the library's thread that judges hazards, reports them and frees held memory
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_SIGNALS_BLOCKED_THREADS_H
#define SC_INTERPOSE_SIGNALS_BLOCKED_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* Is there a thread that really blocks SIGSEGV? Usually returns the result of the last check, since
 * a check takes some 20 us for each thread: checks are so rare that they take a thousandth of the
 * time (a sixty-fourth while there is such a thread). If all signals of a thread are blocked
 * because the C library may be starting or ending it, waits for that, two seconds at most. No
 * signal is blocked meanwhile. */
bool sc_blocked_threads_any(void);

/* Did the last check find a thread that really blocks SIGSEGV? Signal-safe. */
bool sc_blocked_threads_were_found(void);

/* Checks now whether a thread really blocks SIGSEGV, and returns the result. */
bool sc_blocked_threads_check_now(void);

/* Sets *blocks to whether the thread, of whatever kind, really blocks SIGSEGV now. False: it is no
 * thread of this process (another process may share its memory), or it has ended. Some
 * microseconds. */
bool sc_blocked_threads_find(int32_t thread, bool *blocks);

/* Records that the calling thread is one of the driver's, which does not count as blocking SIGSEGV.
 */
void sc_blocked_threads_leave_out(void);

#endif
