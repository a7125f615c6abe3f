/* SIGSEGV, shared with the program.
 *
 * From the first page on that is guarded by mprotect the kernel knows the library's handler. The
 * program's action is noted here, and sigaction and its kin tell of that action. It gets every
 * fault that is not the guard's, as the kernel would have delivered it: on the stack that it asked
 * for, with its mask and flags. Its frame lies where the kernel would have put it, so that the
 * program's handler returns, is left and is unwound as ever. Before that page nothing of SIGSEGV is
 * changed (sharing.h).
 *
 * The library's handler runs with every other signal blocked from its first instruction, because a
 * signal handler may take the thread away for good (siglongjmp, asynchronous cancellation). Signals
 * are unblocked only where nothing is left to do. In a setuid program, and with mode=off,
 * everything passes through.
 *
 * Everything here is thread safe and signal safe, as what it stands for is. Locks: sc_signals_lock,
 * with all signals blocked.
 */
#ifndef SC_INTERPOSE_SIGNALS_SIGNALS_H
#define SC_INTERPOSE_SIGNALS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* The process uses CUDA from now on: handlers that the program has set by the C library are entered
 * by way of the library (sharing.h). Takes the loader's lock. */
void sc_signals_enter_handlers(void);

/* In a forked child, which has signals of its own. */
void sc_signals_child(void);

/* What is about to happen may replace the handler of SIGSEGV past the hooks, as a runtime does that
 * starts: it is looked for more often again. Two stores. */
void sc_signals_doubt(void);

/* Makes the library's handler the one that the kernel knows, and the former handler the program's.
 * When the handler is in place already, a system call now and then, 50 us to 0.1 s after the last
 * one: who has replaced it past the hooks is taken for the program, and taken over again. */
enum sc_takeover {
    SC_TAKEOVER_DONE,
    SC_TAKEOVER_REFUSED, /* by the kernel, or SIGSEGV cannot be shared */
    SC_TAKEOVER_BLOCKED, /* a thread really blocks SIGSEGV: a touch by it would kill */
};
enum sc_takeover sc_signals_take_over(void);

/* ---- for signal_actions.c ----
 *
 * Changes of actions are made one at a time, with signals blocked. */

struct sc_signals_lock {
    uint64_t mask;
};
struct sc_signals_lock sc_signals_lock(void);
void sc_signals_unlock(const struct sc_signals_lock *lock);
bool sc_signals_are_locked_here(void); /* in builds with checks (common/checks.h) alone */

/* The program's action for SIGSEGV, under the lock: asks, or sets a new one where `action` is not
 * NULL. 0 or -1 with errno, as sigaction. */
int sc_signals_change(const struct sigaction *action, struct sigaction *old);

/* All handlers are set anew, under the lock, since how they are entered has changed. */
void sc_signals_adopt_handlers(void);

/* What the kernel has for SIGSEGV, which may be ours, becomes the program's. */
void sc_signals_tell_as_set(struct sigaction *found);

/* Is the interrupted context at the first instruction of a handler; and of one whose mask has
 * SIGSEGV? Several signals that were pending come at once. */
bool sc_signals_is_about_to_enter(const ucontext_t *context);
bool sc_signals_is_about_to_block(const ucontext_t *context);

/* A handler begins, and interrupted `context`: has the program changed its mask past the hooks
 * (sc_signal_mask_compare)? Before the handler's frame says what is believed. */
void sc_signals_compare_mask(ucontext_t *context);

#endif
