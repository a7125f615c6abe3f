/* Keeps a SIGSEGV that is sent to a thread that believes SIGSEGV blocked.
 *
 * The kernel delivers the signal to the library's handler. The library keeps it until the thread
 * unblocks SIGSEGV or waits for it, or until the program ignores it. A signal that is sent to the
 * process is kept by the thread that the kernel chose. signalfd does not see a kept signal.
 *
 * Thread safe and signal safe; no lock; errno is kept.
 */
#ifndef SC_INTERPOSE_SIGNALS_PENDING_SEGV_H
#define SC_INTERPOSE_SIGNALS_PENDING_SEGV_H

#include <signal.h>
#include <stdbool.h>

/* In the handler of SIGSEGV: keeps the signal for the thread, which believes SIGSEGV blocked or is
 * about to enter a handler that blocks it. A second one is lost, as with the kernel. */
void sc_pending_segv_add(const siginfo_t *info);

/* Takes the kept signal of the calling thread. False: there is none. */
bool sc_pending_segv_take(siginfo_t *info);

/* The thread unblocks SIGSEGV: sends the kept signal to the thread again, so that the program's
 * handler gets it. */
void sc_pending_segv_deliver(void);

/* The thread is about to set a mask without SIGSEGV: blocks all signals and sends the kept one, so
 * that it comes together with other pending signals. Does nothing if none is kept. */
void sc_pending_segv_deliver_with_mask(void) __attribute__((visibility("hidden")));

/* The program ignores SIGSEGV: drops the kept signals of all threads. */
void sc_pending_segv_drop_all(void);

#endif
