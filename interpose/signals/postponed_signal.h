/* Postpones a signal of the program that interrupts a thread within a lock of the library
 * (common/library_lock.h).
 *
 * The program's handler may run for as long as it likes. A garbage collector stops all threads in
 * that way, and then maps, protects and reads memory, for which hooks take that lock. So the
 * library sends the signal to the thread again and blocks signals until the thread has released the
 * lock; then the handler is called.
 *
 * Real-time signals are still handled in the order in which they were sent. A signal that was sent
 * again comes after pending ones of the same number. So each of these handles the postponed signal
 * before it, and passes its own on to the next.
 *
 * Signals of faults are never postponed, nor are handlers with SA_RESETHAND, which Linux has reset.
 * Thread-safe and signal-safe; no lock; errno is kept. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 */

#ifndef SC_INTERPOSE_SIGNALS_POSTPONED_SIGNAL_H
#define SC_INTERPOSE_SIGNALS_POSTPONED_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#include "common/library_lock.h"

/* Does the thread hold a lock of the library, so that signals must be postponed? */
static inline bool sc_postponed_signal_is_due(void)
{
    return __builtin_expect(sc_library_lock_depth != 0, 0);
}

/* Postpones the signal, in a handler that interrupted `context`. True: the handler must return at
 * once. False: the signal cannot be postponed and must be handled now. */
bool sc_postponed_signal_put(int number, const siginfo_t *info, ucontext_t *context);

/* A real-time signal (its number) of which this thread has postponed one that must be handled
 * before further ones of that number, which were sent later; 0: none. */
extern __thread int sc_postponed_signal_ahead
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Swaps the signal in `info`, which has just come, for the postponed one of the same number, which
 * was sent before it and must be handled first. The one that came is handled when the next one
 * comes. Called in the handler of the signal in sc_postponed_signal_ahead. */
void sc_postponed_signal_take_turn(siginfo_t *info);

/* Drops what the thread has postponed, in a forked child, where nothing is pending. */
void sc_postponed_signal_child(void);

#endif
