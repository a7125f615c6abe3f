/* Threads that the C library starts when a timer expires (SIGEV_THREAD).
 *
 * It starts them by itself, with all signals blocked. A thread that has SIGSEGV really
 * blocked is killed when it touches a guarded page, so the function that the program wants to be
 * called is called by one of ours. That takes SIGSEGV out of the mask, and notes that the program
 * believes it blocked (interpose/signals/signal_mask.h).
 *
 * Thread safe; no lock; errno is kept.
 */
#ifndef SC_INTERPOSE_SIGNALS_TIMER_THREADS_H
#define SC_INTERPOSE_SIGNALS_TIMER_THREADS_H

#include <signal.h>

/* What to ask the C library for: the event itself, or a copy in `room`. The event is the program's,
 * or NULL. */
struct sigevent *sc_timer_threads_event(const struct sigevent *event, struct sigevent *room);

#endif
