/* Waits for signals by a system call that a signal handler can restart, for calls such as sigwait.
 *
 * A thread checks whether a SIGSEGV is kept for it (pending_segv.h), and then waits for the next
 * signal. A SIGSEGV that comes between the two would be kept, and the thread would wait for ever.
 * So if a handler of the library interrupts the check, or the instruction of the system call, the
 * thread checks again.
 *
 * Thread-safe and signal-safe; no lock; errno is kept. */
#ifndef SC_INTERPOSE_SIGNALS_RESTARTABLE_WAIT_H
#define SC_INTERPOSE_SIGNALS_RESTARTABLE_WAIT_H

#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <ucontext.h>

enum { SC_WAIT_NOT_BEGUN = 0 };

/* Waits for a signal of the set, without limit if `timeout` is NULL. Returns its number, or -errno.
 * SC_WAIT_NOT_BEGUN: *is_kept (a SIGSEGV is kept for the thread) was true just before the wait. */
long sc_restartable_wait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout,
                         const bool *is_kept) __attribute__((visibility("hidden")));

/* Called by each handler of the library: if it has interrupted the thread (`context`) between the
 * check of *is_kept and the wait, has the thread check again when the handler returns. */
void sc_restartable_wait_restart(ucontext_t *context);

#endif
