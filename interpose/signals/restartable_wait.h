/* The system call that waits for signals, which a signal handler can send back to its beginning.
 *
 * A thread looks whether a signal is kept for it (pending_segv.h), and then waits for the next one.
 * A signal that comes between the two would be kept, and the thread would wait for ever. So every
 * handler of the library's that interrupts the look, or the instruction of the call, has the thread
 * look again.
 *
 * Thread safe and signal safe; no lock; errno is kept.
 */
#ifndef SC_INTERPOSE_SIGNALS_RESTARTABLE_WAIT_H
#define SC_INTERPOSE_SIGNALS_RESTARTABLE_WAIT_H

#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <ucontext.h>

enum { SC_WAIT_NOT_BEGUN = 0 };

/* Waits for a signal of the set, for ever if `timeout` is NULL. Returns its number, or -errno.
 * SC_WAIT_NOT_BEGUN: *is_kept was true just before the wait. */
long sc_restartable_wait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout,
                         const bool *is_kept) __attribute__((visibility("hidden")));

/* In a handler that interrupted `context`: if the thread was about to wait, has it look once more
 * whether a signal is kept for it. */
void sc_restartable_wait_restart(ucontext_t *context);

#endif
