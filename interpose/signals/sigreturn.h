/* The way back from the program's signal handlers.
 *
 * When a handler returns, the kernel takes the thread's mask out of the frame, where the handler
 * may have changed it. So handlers return to code of the library's. Once SIGSEGV is shared, that
 * code takes it out of the mask and notes that the program believes it blocked
 * (interpose/signals/signal_mask.h). It makes the same system call. Unwinders see a signal frame.
 *
 * Thread safe and signal safe; no lock; errno is kept.
 */
#ifndef SC_INTERPOSE_SIGNALS_SIGRETURN_H
#define SC_INTERPOSE_SIGNALS_SIGRETURN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#define SC_SIGRETURN_IS_OURS 1
#else
/* The kernel brings the code, and unwinders know it by its address. So the library's handler calls
 * the program's, and does the same when that returns. */
#define SC_SIGRETURN_IS_OURS 0
#endif

/* The kernel has just got a handler of the library's for the signal: from now on that handler
 * returns to the library's code. */
void sc_sigreturn_adopt(int number);

/* Does a handler with this return address return to the library's code? */
bool sc_sigreturn_leads_back(uintptr_t caller);

/* Learns where the C library's way back lies. Takes the loader's lock. */
void sc_sigreturn_learn_librarys(void);

/* Was the action, as the kernel has it, set by the C library and not past it? */
bool sc_sigreturn_is_librarys(const struct sigaction *action);

/* Puts the C library's way back into an action that the program is to read. */
void sc_sigreturn_tell_librarys(struct sigaction *action);

#endif
