/* Shares SIGSEGV with the program: the guard's faults are the library's, and all others reach the
 * program's handler.
 *
 * From the first page on that is guarded by mprotect, the kernel has the library's handler. The
 * program's action is kept here, and sigaction and the like report that action. The program's
 * handler gets every fault that is not the guard's, as the kernel would have delivered it: on the
 * stack that it asked for, with its mask and flags. Its frame lies where the kernel would have put
 * it, so it returns, is left and is unwound as without us. Before the first such page nothing about
 * SIGSEGV is changed (sharing.h).
 *
 * The library's handler runs with every other signal blocked from its first instruction, because a
 * signal handler may take the thread away for good (siglongjmp, asynchronous cancellation). Signals
 * are unblocked only where nothing is left to do. In a setuid program, and with mode=off,
 * everything passes through.
 *
 * Everything here is thread safe and signal safe, as what it stands for is. Locks: sc_signals_lock,
 * with all signals blocked. */
#ifndef SC_INTERPOSE_SIGNALS_SIGNALS_H
#define SC_INTERPOSE_SIGNALS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Called when the process begins to use CUDA: from now on handlers that the program has set by the
 * C library are entered by way of the library (sharing.h). Takes the loader's lock. */
void sc_signals_enter_handlers(void);

/* In a forked child: its signals are its own from now on. */
void sc_signals_child(void);

/* Called when the handler of SIGSEGV may soon be replaced past the hooks, as by a runtime that
 * starts: the kernel's action is looked at more often again. Three stores. */
void sc_signals_recheck_soon(void);

/* Installs the library's handler in the kernel, and keeps the former handler as the program's. If
 * it is installed already, the kernel's action is looked at now and then, 50 us to 0.1 s after the
 * last look. A handler that was installed past the hooks is taken for the program's, and replaced
 * again. */
enum sc_takeover {
    SC_TAKEOVER_DONE,
    SC_TAKEOVER_REFUSED, /* the kernel refuses, or SIGSEGV cannot be shared */
    SC_TAKEOVER_BLOCKED, /* a thread really blocks SIGSEGV: a touch by it would kill */
};
enum sc_takeover sc_signals_take_over(void);

/* ---- for signal_actions.c ----
 *
 * Actions are changed by one thread at a time, with signals blocked. */

struct sc_signals_lock {
    uint64_t mask;
};
struct sc_signals_lock sc_signals_lock(void);
void sc_signals_unlock(const struct sc_signals_lock *lock);
bool sc_signals_are_locked_here(void); /* in builds with checks (common/checks.h) alone */

/* sigaction for SIGSEGV, under the lock: `old` gets the program's action, and `action`, if not
 * NULL, becomes the new one. 0, or -1 with errno. */
int sc_signals_change(const struct sigaction *action, struct sigaction *old);

/* Gives all of the program's handlers to the kernel anew, since the way in which they are entered
 * has changed. Under the lock. */
void sc_signals_adopt_handlers(void);

/* Turns what the kernel has for SIGSEGV, which may be our handler, into the program's action. */
void sc_signals_restore_program_action(struct sigaction *found);

/* Did a signal interrupt another handler of ours at its first instruction? That happens if several
 * pending signals come at once. */
bool sc_signals_is_about_to_enter(const ucontext_t *context);

/* The same, of a handler for a signal whose action masks SIGSEGV. */
bool sc_signals_is_about_to_block(const ucontext_t *context);

/* A handler begins that interrupted `context`: looks whether the program has changed its mask past
 * the hooks (sc_signal_mask_compare). To be called before the belief is put into the handler's
 * frame. */
void sc_signals_compare_mask(ucontext_t *context);

#endif
