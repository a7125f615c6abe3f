/* A SIGSEGV that is sent to a thread that believes SIGSEGV blocked.
 *
 * The kernel delivers the signal to the library's handler. The signal is kept until the thread
 * unblocks SIGSEGV, waits for it, or the program ignores it. What is sent to the process is kept by
 * the thread that the kernel chose. signalfd does not see a signal that is kept.
 *
 * Thread safe and signal safe; no lock; errno is kept.
 */
#ifndef SC_INTERPOSE_SIGNALS_KEPT_SIGNAL_H
#define SC_INTERPOSE_SIGNALS_KEPT_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* In the handler: keeps the signal. As with the kernel, a second one is lost. */
void sc_kept_signal_put(const siginfo_t *info);

/* Takes the signal that the thread keeps. False: there is none. */
bool sc_kept_signal_take(siginfo_t *info);

/* The thread unblocks SIGSEGV: the signal is sent once more, and gets to the program's handler. */
void sc_kept_signal_deliver(void);

/* The thread is about to set a mask without SIGSEGV: blocks all signals and sends the kept one, so
 * that it comes together with others that are pending. Does nothing if none is kept. */
void sc_kept_signal_come_with_mask(void) __attribute__((visibility("hidden")));

/* The program ignores SIGSEGV: what is kept is lost, on all threads. */
void sc_kept_signal_forget(void);

#endif
