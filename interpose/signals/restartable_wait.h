/* The system call that waits for signals, which a handler may send back to its beginning.
 *
 * A thread looks whether a signal is kept for it (kept_signal.h), and then waits for the next. One
 * that came in between would be kept, and the thread would wait for ever. So every handler of the
 * library's that interrupts the look, or the instruction of the call, lets the thread look again.
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

/* Waits for a signal of the set, for ever if `timeout` is NULL. Returns its number, or -errno. If
 * `is_kept` is true just before the wait: SC_WAIT_NOT_BEGUN. */
long sc_restartable_wait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout,
                         const bool *is_kept) __attribute__((visibility("hidden")));

/* In a handler, which interrupted `context`: has the thread look again, if it was about to wait. */
void sc_restartable_wait_restart(ucontext_t *context);

#endif
