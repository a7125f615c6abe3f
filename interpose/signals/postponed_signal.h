/* Postpones a signal of the program's that interrupts a thread within a lock of the library's.
 *
 * Its handler may keep the thread for as long as it likes. A garbage collector stops all threads in
 * that way, and then maps, protects and reads memory, whose hooks want that lock. So the handler is
 * called when the thread has left the lock: the signal is sent to the thread again, and signals
 * stay blocked until then.
 *
 * Real-time signals are still handled in the order in which they were sent. A signal that was sent
 * again stands behind others of its number that are pending. So each of these handles the signal
 * before it, and hands on its own to the next.
 *
 * Signals of faults are never postponed, nor are handlers that the kernel has reset (SA_RESETHAND).
 * Thread safe and signal safe; no lock; errno is kept. */
#ifndef SC_INTERPOSE_SIGNALS_POSTPONED_SIGNAL_H
#define SC_INTERPOSE_SIGNALS_POSTPONED_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#include "common/library_lock.h"

/* Does the thread hold a lock, so that signals are postponed? */
static inline bool sc_postponed_signal_is_due(void)
{
    return __builtin_expect(sc_library_lock_depth != 0, 0);
}

/* In the handler of a signal, which interrupted `context`: postpones the signal. True: the handler
 * must return at once. False: the signal is not to be postponed, and is to be handled now. */
bool sc_postponed_signal_put(int number, const siginfo_t *info, ucontext_t *context);

/* The number of a real-time signal of which an earlier one is to be handled before those that come;
 * 0: none. */
extern __thread int sc_postponed_signal_ahead
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* In the handler of a signal of that number: swaps it for the earlier postponed one, which is to be
 * handled first. */
void sc_postponed_signal_take_turn(siginfo_t *info);

/* In a forked child: nothing is pending for it. */
void sc_postponed_signal_child(void);

#endif
