/* Threads that the C library starts when a timer expires (SIGEV_THREAD).
 *
 * The C library starts such a thread by itself, with all signals blocked. A thread that really
 * blocks SIGSEGV is killed when it touches a guarded page. So a function of ours calls the one that
 * the program wants to be called. Before, it takes SIGSEGV out of the mask, and notes that the
 * program believes it blocked (interpose/signals/signal_mask.h).
 *
 * Thread safe; no lock; errno is kept.
 */
#ifndef SC_INTERPOSE_SIGNALS_TIMER_THREADS_H
#define SC_INTERPOSE_SIGNALS_TIMER_THREADS_H

#include <signal.h>

/* The event to give to the C library in place of the program's `event` (which may be NULL): the
 * event itself, or a copy in `room` that calls a function of ours in the timer's thread. */
struct sigevent *sc_timer_threads_wrap_event(const struct sigevent *event, struct sigevent *room);

#endif
