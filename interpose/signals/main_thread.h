/* Forwards signals that were sent to the process to the main thread, if it would have got them
 * without the library.
 *
 * Linux delivers such a signal to the main thread if that has it unblocked, and only otherwise to
 * another thread (complete_signal in Linux's kernel/signal.c). A program with one thread relies on
 * that: its handler may leave by siglongjmp, switch contexts, or fork. The driver's threads block
 * no signals. So if another thread gets such a signal while the main thread is in the library's
 * handler of a fault, or runs a single-stepped instruction, with signals blocked by the library,
 * the signal is forwarded.
 *
 * Not forwarded are signals that may be meant for one thread: those of timer_create and sigqueue,
 * those that Linux sends to the thread that caused them, and those of processor clocks.
 *
 * Thread-safe and signal-safe; no lock; errno is kept. Uses 1.5 KB of stack. */
#ifndef SC_INTERPOSE_SIGNALS_MAIN_THREAD_H
#define SC_INTERPOSE_SIGNALS_MAIN_THREAD_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

/* sc_main_thread_note_blocked records that the library blocks signals on the calling thread, in a
 * handler that has interrupted `context`; the other function, that it blocks them no longer. Other
 * threads forward signals to the main one meanwhile; for other threads than that the two do
 * nothing.
 */
void sc_main_thread_note_blocked(const ucontext_t *context);
void sc_main_thread_note_unblocked(void);

/* Forwards the signal to the main thread if that would have got it; called in the handler of a
 * signal, on any thread. True: it was forwarded, and the handler must return at once. If the main
 * thread is just entering or leaving the library, waits for that, 200 ms at most. Not to be called
 * by a thread that holds a lock. */
bool sc_main_thread_forward(int number, const siginfo_t *info);

/* Sends the signal to the main thread. False: Linux refuses. */
bool sc_main_thread_send(int number, const siginfo_t *info);

/* Puts back into `info` what told how the signal was sent (si_code), if another thread has
 * forwarded it: Linux allows only other values there. */
void sc_main_thread_restore(siginfo_t *info);

/* Makes the calling thread the main one, in a forked child. */
void sc_main_thread_child(void);

#endif
