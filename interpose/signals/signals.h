/* Shares SIGSEGV with the program: the library handles the faults on guarded pages, and passes all
 * others to the program's handler.
 *
 * From the first page on that is guarded by mprotect, Linux has the library's handler. The
 * program's action is kept here, and sigaction and the like report that action. The program's
 * handler is called as Linux would have called it: on the stack that it asked for, with its mask
 * and flags, and with its frame in the same place. So it returns, is left and is unwound as without
 * the library. Before the first such page nothing about SIGSEGV is changed (sharing.h).
 *
 * The library's handler runs with every other signal blocked from its first instruction, because
 * another handler might leave it for good (siglongjmp, asynchronous cancellation). Signals are
 * unblocked only where nothing is left to do. In a setuid program, and with mode=off, hooks pass
 * calls on unchanged.
 *
 * Everything here is thread-safe and signal-safe, as the functions that it hooks are. Locks:
 * sc_signals_lock, with all signals blocked. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   hook: our function in the place of one of the C library's
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_SIGNALS_SIGNALS_H
#define SC_INTERPOSE_SIGNALS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Makes the library's handler the one that Linux calls for each handler that the program has set by
 * the C library (sharing.h). Called when the process begins to use CUDA. Takes the loader's lock.
 */
void sc_signals_enter_handlers(void);

/* Resets the state of signals in a forked child, where no signal is kept or postponed, no thread
 * single-stepped, and sc_signals_lock free. */
void sc_signals_child(void);

/* Makes the library read the action for SIGSEGV from Linux more often again. Called when a library
 * is loaded that may soon replace the handler without passing through the hooks, as language
 * runtimes do when they start. Three stores. */
void sc_signals_recheck_soon(void);

/* Installs the library's handler of SIGSEGV, and keeps the former one as the program's. If it is
 * installed already, reads the action from Linux now and then, 50 us to 0.1 s after the last time.
 * A handler that was installed past the hooks is taken as the program's, and replaced again. */
enum sc_takeover {
    SC_TAKEOVER_DONE,
    SC_TAKEOVER_REFUSED, /* Linux refuses, or SIGSEGV cannot be shared */
    /* A thread really blocks SIGSEGV (blocked_threads.h) and would be killed by a touch. */
    SC_TAKEOVER_BLOCKED,
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
bool sc_signals_are_locked_here(void); /* debug builds alone (common/checks.h) */

/* sigaction for SIGSEGV: stores the program's action in `old`, and makes `action` the new one
 * unless it is NULL. Needs the lock. Returns 0, or -1 with errno. */
int sc_signals_change(const struct sigaction *action, struct sigaction *old);

/* Sets all of the program's handlers in Linux again, since the way in which they are called has
 * changed. Needs the lock. */
void sc_signals_adopt_handlers(void);

/* Replaces the action read from Linux for SIGSEGV, which may be the library's, by the program's. */
void sc_signals_restore_program_action(struct sigaction *found);

/* Did a signal interrupt another handler of the library at its first instruction? That happens if
 * several pending signals are delivered at once. */
bool sc_signals_is_about_to_enter(const ucontext_t *context);

/* Did a signal interrupt another handler of the library at its first instruction, and does the
 * action of that handler's signal mask SIGSEGV? */
bool sc_signals_is_about_to_block(const ucontext_t *context);

/* Called when a handler begins that has interrupted `context`: checks by the mask there whether the
 * program has changed its mask past the hooks (sc_signal_mask_compare). To be called before SIGSEGV
 * is put into that mask, where Linux never has it, for a program that believes it blocked. */
void sc_signals_compare_mask(ucontext_t *context);

#endif
