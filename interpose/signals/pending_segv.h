/* Emulates a pending SIGSEGV: keeps one that was sent to a thread which has asked to block SIGSEGV.
 *
 * While SIGSEGV is shared (sharing.h) Linux has it unblocked all the same, and so delivers the
 * signal to the library's handler. The library keeps it until the thread unblocks SIGSEGV or waits
 * for it, or until the program ignores it. A signal that was sent to the process is kept by the
 * thread that Linux chose. signalfd does not see a kept signal.
 *
 * Thread-safe and signal-safe; no lock; errno is kept. */
#ifndef SC_INTERPOSE_SIGNALS_PENDING_SEGV_H
#define SC_INTERPOSE_SIGNALS_PENDING_SEGV_H

#include <signal.h>
#include <stdbool.h>

/* Keeps a SIGSEGV that was sent to the calling thread, in its handler: the thread has asked to
 * block SIGSEGV, or is about to enter a handler that blocks it. If one is kept already, the new one
 * is lost, as in Linux. */
void sc_pending_segv_add(const siginfo_t *info);

/* Sends the SIGSEGV that is kept for the calling thread, if any, to it again: the thread has
 * unblocked SIGSEGV, so that the program's handler gets it. */
void sc_pending_segv_deliver(void);

/* If a SIGSEGV is kept for the calling thread, blocks all signals and sends it again. Called before
 * the thread sets a mask without SIGSEGV, so that it is delivered together with other pending
 * signals, in Linux's order. */
void sc_pending_segv_deliver_with_mask(void) __attribute__((visibility("hidden")));

/* Drops the SIGSEGVs that are kept for all threads, when the program begins to ignore SIGSEGV, as
 * Linux drops pending signals then. */
void sc_pending_segv_drop_all(void);

#endif
