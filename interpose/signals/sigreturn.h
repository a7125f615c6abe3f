/* Lets the program's signal handlers return through code of the library.
 *
 * When a handler returns, Linux sets the thread's mask from the frame, where the handler may have
 * changed it. So handlers return to code of the library, which makes the same system call
 * (sigreturn). Once SIGSEGV is shared, that code first removes SIGSEGV from the mask in the frame,
 * and records that the program believes it blocked (interpose/signals/signal_mask.h). Unwinders
 * recognise the code as a signal frame.
 *
 * Thread-safe and signal-safe; no lock; errno is kept. */
#ifndef SC_INTERPOSE_SIGNALS_SIGRETURN_H
#define SC_INTERPOSE_SIGNALS_SIGRETURN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#define SC_SIGRETURN_IS_OURS 1
#else
/* On this machine Linux provides the code to which handlers return, and unwinders know its address.
 * So the library's handler calls the program's handler as a function, and makes the changes to the
 * mask when that returns. */
#define SC_SIGRETURN_IS_OURS 0
#endif

/* Makes the library's handler, which was just installed for the signal, return to the library's
 * code. */
void sc_sigreturn_adopt(int number);

/* Does a handler with this return address return to the library's code? */
bool sc_sigreturn_is_return_to_us(uintptr_t caller);

/* Finds the C library's range of addresses, and its own code for the return from handlers. Takes
 * the loader's lock. */
void sc_sigreturn_find_libc_restorer(void);

/* Was the action, as read from Linux, set by the C library, and not by a system call of the
 * program? */
bool sc_sigreturn_was_set_by_libc(const struct sigaction *action);

/* Puts the C library's code for the return (sa_restorer) into an action that the program will read.
 */
void sc_sigreturn_put_libc_restorer(struct sigaction *action);

#endif
