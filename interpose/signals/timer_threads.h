/* Unblocks SIGSEGV on threads that the C library starts when a timer expires (SIGEV_THREAD).
 *
 * The C library starts such a thread with all signals blocked. A thread that really blocks SIGSEGV
 * is killed when it touches a page that mprotect guards. So the C library is given a function of
 * the library, which removes SIGSEGV from the mask, records that the program believes it blocked
 * (interpose/signals/signal_mask.h), and calls the program's function.
 *
 * Thread-safe; no lock; errno is kept. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_SIGNALS_TIMER_THREADS_H
#define SC_INTERPOSE_SIGNALS_TIMER_THREADS_H

#include <signal.h>

/* Returns the event to give to the C library in place of the program's `event` (which may be NULL):
 * the event itself, or a copy in `room` with the library's function. */
struct sigevent *sc_timer_threads_wrap_event(const struct sigevent *event, struct sigevent *room);

#endif
