/* Signals that are sent to the process, and that the main thread would take if the library did not
 * block them there.
 *
 * The kernel gives such a signal to the main thread where that lets it in, and only otherwise to
 * another thread that does (complete_signal in Linux's kernel/signal.c). A program with one thread
 * goes by it, whatever threads the driver has, which let all signals in: its handler leaves by
 * siglongjmp, switches contexts, or forks. So what another thread takes while the main thread is in
 * the library's handler of a fault, or runs a stepped instruction, is sent to the main thread.
 *
 * What may be one thread's own is left where it is: timers and queued signals (timer_create,
 * sigqueue), what the kernel sends to the thread that caused it, and clocks of the processor.
 *
 * Thread safe and signal safe; no lock; errno is kept. On the stack 1.5 KB.
 */
#ifndef SC_INTERPOSE_SIGNALS_MAIN_THREAD_H
#define SC_INTERPOSE_SIGNALS_MAIN_THREAD_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

/* The library blocks signals on the calling thread, which was interrupted with `context`; and does
 * so no longer, or is about to return. Nothing where it is not the main thread. */
void sc_main_thread_keep(const ucontext_t *context);
void sc_main_thread_let_go(void);

/* In the handler of a signal, on any thread. True: the main thread takes it, and the handler is to
 * return at once. A main thread that is just about to enter or to leave the library is waited for,
 * 200 ms at most: not for a thread that has a lock. */
bool sc_main_thread_takes(int number, const siginfo_t *info);

/* Sends it on to the main thread. False: the kernel refuses. */
bool sc_main_thread_send(int number, const siginfo_t *info);

/* In the handler of a signal that another thread has sent on: makes of what came what was sent. */
void sc_main_thread_restore(siginfo_t *info);

/* In a forked child, whose main thread is this one. */
void sc_main_thread_child(void);

#endif
