/* A signal of the program's that interrupts a thread within a lock of the library's.
 *
 * Its handler may keep the thread for as long as it likes: a garbage collector stops all threads
 * so, and then maps, protects and reads memory, whose hooks want that lock. So the handler is
 * called when the thread has left the lock: the signal is sent to the thread once more, and signals
 * stay blocked until then.
 *
 * Real-time signals are handled in the order in which they were sent all the same: what was sent
 * once more stands behind others of its number that are pending, and each of these hands on what it
 * brings to the next.
 *
 * Signals of faults are never postponed, nor are handlers that the kernel has reset (SA_RESETHAND).
 * Thread safe and signal safe; no lock; errno is kept.
 */
#ifndef SC_INTERPOSE_SIGNALS_POSTPONED_SIGNAL_H
#define SC_INTERPOSE_SIGNALS_POSTPONED_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#include "common/own_lock.h"

/* Can there be anything to postpone? */
static inline bool sc_postponed_signal_is_due(void)
{
    return __builtin_expect(sc_own_lock_depth != 0, 0);
}

/* In the handler of a signal, which interrupted `context`. True: the handler is to return at once.
 * False: the signal is to be handled now. */
bool sc_postponed_signal_put(int number, const siginfo_t *info, ucontext_t *context);

/* The real-time signal of which an earlier one is to be handled before those that come, or 0. */
extern __thread int sc_postponed_signal_ahead
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* In the handler of that signal: makes of what came what is to be handled now. */
void sc_postponed_signal_take_turn(siginfo_t *info);

/* In a forked child, for which nothing is pending. */
void sc_postponed_signal_child(void);

#endif
