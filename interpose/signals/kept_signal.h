/* A SIGSEGV that is sent to a thread that believes it blocked: it is really delivered, to us, and
 * is kept until the thread unblocks it, waits for it, or the program ignores it.
 *
 * What is sent to the process is kept by the thread that the kernel chose. signalfd does not see
 * one. Async-signal-safe; errno is kept.
 */
#ifndef SC_INTERPOSE_SIGNALS_KEPT_SIGNAL_H
#define SC_INTERPOSE_SIGNALS_KEPT_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* In the handler. As with the kernel there is no second one. */
void sc_kept_signal_put(const siginfo_t *info);

/* False: none is there. */
bool sc_kept_signal_take(siginfo_t *info);

/* The thread unblocks: it is sent once more, and gets to the handler. */
void sc_kept_signal_deliver(void);

/* The thread is about to set a mask without it: all signals are blocked and this one is sent, so
 * that it comes together with others that are pending. Nothing if none is there. */
void sc_kept_signal_come_with_mask(void) __attribute__((visibility("hidden")));

/* The program ignores the signal: those that wait are lost, on all threads. */
void sc_kept_signal_forget(void);

#endif
