/* The way back from the program's signal handlers.
 *
 * When a handler returns, the kernel takes the thread's mask out of the frame, in which the handler
 * may have changed it. So the code that the kernel lets handlers return to is ours: it takes
 * SIGSEGV out of that mask, notes that the program believes it blocked
 * (interpose/signals/signal_mask.h), and makes the same system call. Unwinders see a signal frame.
 */
#ifndef SC_INTERPOSE_SIGNALS_SIGRETURN_H
#define SC_INTERPOSE_SIGNALS_SIGRETURN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#define SC_SIGRETURN_IS_OURS 1
#else
/* The kernel brings the code, and unwinders know it by its address. So the program's handlers are
 * called and return to us, which does the same. */
#define SC_SIGRETURN_IS_OURS 0
#endif

/* The handler that the kernel has now for the signal is one of ours: from now on it returns by way
 * of us. Async-signal-safe; errno is kept. */
void sc_sigreturn_adopt(int number);

/* Does a handler return by way of us that is to return to this address? */
bool sc_sigreturn_leads_back(uintptr_t caller);

/* An action that the program is to read has the C library's way back in it. */
void sc_sigreturn_tell_librarys(struct sigaction *action);

#endif
