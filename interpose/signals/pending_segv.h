/* Emulates a pending SIGSEGV: keeps one that was sent to a thread which believes SIGSEGV blocked.
 *
 * While SIGSEGV is shared (sharing.h) Linux has it unblocked, and so delivers the signal to the
 * library's handler. The library keeps it until the thread unblocks SIGSEGV or waits for it, or
 * until the program ignores it. A signal that was sent to the process is kept by the thread that
 * Linux chose. signalfd does not see a kept signal.
 *
 * Thread-safe and signal-safe; no lock; errno is kept. */
#ifndef SC_INTERPOSE_SIGNALS_PENDING_SEGV_H
#define SC_INTERPOSE_SIGNALS_PENDING_SEGV_H

#include <signal.h>
#include <stdbool.h>

/* Keeps the signal, in the handler of SIGSEGV on a thread that believes SIGSEGV blocked, or is
 * about to enter a handler that blocks it. If one is kept already, the new one is lost, as in
 * Linux. */
void sc_pending_segv_add(const siginfo_t *info);

/* Removes the calling thread's kept signal and stores it. False: there is none. */
bool sc_pending_segv_take(siginfo_t *info);

/* Sends the kept signal to the calling thread again, which has unblocked SIGSEGV, so that the
 * program's handler gets it. */
void sc_pending_segv_deliver(void);

/* Blocks all signals and sends the kept one, before the thread sets a mask without SIGSEGV, so that
 * the kept one is delivered together with other pending signals. Does nothing if none is kept. */
void sc_pending_segv_deliver_with_mask(void) __attribute__((visibility("hidden")));

/* Drops the kept signals of all threads, when the program ignores SIGSEGV. */
void sc_pending_segv_drop_all(void);

#endif
