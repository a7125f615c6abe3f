/* SIGSEGV, shared with the program.
 *
 * From the first handler that the program installs for it, or the first protected page, the handler
 * that the kernel knows is ours. The program's action is kept here; it is what sigaction and its
 * kin tell of, and it gets every fault that is not ours as the kernel would have delivered it: on
 * the stack that it asked for, with its mask and flags, its frame lying where the kernel would have
 * put it, so that it returns and is left and unwound as ever.
 *
 * Ours runs with every other signal blocked from its first instruction, because a signal handler
 * may take the thread away for good (siglongjmp, asynchronous cancellation), and it lets go of that
 * only with nothing in its hands. In a setuid program, and with mode=off, everything passes
 * through.
 *
 * Everything here is async-signal-safe, as what it stands for is.
 */
#ifndef SC_INTERPOSE_SIGNALS_SIGNALS_H
#define SC_INTERPOSE_SIGNALS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* The process starts: decides whether the wrappers do anything (sharing.h), and looks at the mask
 * that it was started with. */
void sc_signals_begin(bool on);

/* In a forked child, which is another process with signals of its own. */
void sc_signals_child(void);

/* Makes our handler the one that the kernel knows, and the former one the program's. False if the
 * kernel refuses. Cheap when it is in place already (one system call, to see whether somebody has
 * replaced it past us, for whom it is then taken over again). */
bool sc_signals_take_over(void);

/* ---- for signal_actions.c ----
 *
 * Changes of actions are made one at a time, with signals blocked. */

struct sc_signals_lock {
    uint64_t mask;
};
struct sc_signals_lock sc_signals_lock(void);
void sc_signals_unlock(const struct sc_signals_lock *lock);

/* The program's action for SIGSEGV, under the lock: asks, or sets a new one where `action` is not
 * NULL. 0 or -1 with errno, as sigaction. */
int sc_signals_change(const struct sigaction *action, struct sigaction *old);

/* What the kernel has for SIGSEGV, which may be ours, becomes the program's. */
void sc_signals_tell_as_set(struct sigaction *found);

/* Is the interrupted context the first instruction of a handler, or of one whose mask has SIGSEGV?
 * Several signals that were pending come at once. */
bool sc_signals_is_about_to_enter(const ucontext_t *context);
bool sc_signals_is_about_to_block(const ucontext_t *context);

#endif
