/* Threads that really block SIGSEGV, as /proc tells of them: a touch of a guarded page by one of
 * them would kill the process.
 *
 * While SIGSEGV is shared no mask call of the C library blocks it really (signal_mask.h). What is
 * found here was blocked before, or by a system call of the program's own. Threads that run no code
 * of the program's do not count: the kernel's io_uring workers, the C library's helper of timers,
 * our own (interpose/reaper/own_threads.h), and the driver's, which inherit the mask of who comes
 * up. (Before one of these runs a host function its mask is seen to.) Without /proc nothing is
 * found.
 *
 * Thread-safe. No lock; errno is kept. Not for a signal handler.
 */
#ifndef SC_INTERPOSE_SIGNALS_BLOCKED_THREADS_H
#define SC_INTERPOSE_SIGNALS_BLOCKED_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* Is there such a thread? The answer may be as old as the last look, which takes some 20 us a
 * thread and is repeated so seldom that it costs a thousandth of the time (a sixty-fourth while
 * there is one). A thread that the C library may just be starting or ending is waited for until
 * it has run and is there still, two seconds at most, with no signal blocked. */
bool sc_blocked_threads_any(void);

/* The last answer, without a look. Signal-safe. */
bool sc_blocked_threads_were_found(void);

/* The same, by a look now. */
bool sc_blocked_threads_look_again(void);

/* Says whether the thread really blocks SIGSEGV now, whosever it is. False: it is no thread of this
 * process (another one may share its memory), or it has ended. Some microseconds. */
bool sc_blocked_threads_find(int32_t thread, bool *blocks);

/* The calling thread is one of the driver's. */
void sc_blocked_threads_leave_out(void);

#endif
