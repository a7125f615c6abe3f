/* Sends signals of the process on to the main thread, which would take them if the library did not
 * block signals there for a moment.
 *
 * The kernel gives such a signal to the main thread if that lets it in, and only otherwise to
 * another thread (complete_signal in Linux's kernel/signal.c). A program with one thread relies on
 * that: its handler may leave by siglongjmp, switch contexts, or fork. The driver's threads let all
 * signals in. So if another thread takes such a signal while the main thread is in the library's
 * handler of a fault, or runs a stepped instruction, the signal is sent on to the main thread.
 *
 * Signals that may be meant for one thread stay where they are: those of timer_create and sigqueue,
 * those that the kernel sends to the thread that caused them, and those of processor clocks.
 *
 * Thread safe and signal safe; no lock; errno is kept. On the stack 1.5 KB. */
#ifndef SC_INTERPOSE_SIGNALS_MAIN_THREAD_H
#define SC_INTERPOSE_SIGNALS_MAIN_THREAD_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

/* Notes that the library blocks signals on the calling thread, which was interrupted with
 * `context`. Both functions do nothing on another thread than the main one. */
void sc_main_thread_note_blocked(const ucontext_t *context);
/* Notes that the library blocks them no longer, or is about to return. */
void sc_main_thread_note_unblocked(void);

/* In the handler of a signal, on any thread: sends the signal on to the main thread if that would
 * take it. True: it was sent on, and the handler must return at once. If the main thread is just
 * entering or leaving the library, that is waited for, 200 ms at most. Not to be called by a thread
 * that has a lock. */
bool sc_main_thread_forward(int number, const siginfo_t *info);

/* Sends the signal on to the main thread. False: the kernel refuses. */
bool sc_main_thread_send(int number, const siginfo_t *info);

/* In the handler of a signal that another thread may have sent on: gives `info` the values of the
 * original signal. */
void sc_main_thread_restore(siginfo_t *info);

/* In a forked child: this thread is the main one. */
void sc_main_thread_child(void);

#endif
