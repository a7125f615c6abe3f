/* Where stacks are: threads' own, and those on which they handle signals.
 *
 * Thread-safe; async-signal-safe but for sc_own_stack_learn, which asks the C library. No lock
 * of ours; errno is kept.
 */
#ifndef SC_INTERPOSE_BASE_OWN_STACK_H
#define SC_INTERPOSE_BASE_OWN_STACK_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does the interval touch a stack that must stay accessible: one on which a thread handles signals
 * (sigaltstack), the calling thread's own, or that on which it runs? Such pages must never be
 * protected: the kernel could not deliver a signal there. */
bool sc_own_stack_touches(uintptr_t address, size_t size_bytes);

/* Does the interval touch the main thread's stack, as far as it may grow? */
bool sc_own_stack_is_mains(uintptr_t address, size_t size_bytes);

/* The calling thread handles signals there from now on, or nowhere (SS_DISABLE). */
void sc_own_stack_note_alternate(const stack_t *stack);

/* Where the calling thread's own stack is; empty: that is not known. */
struct sc_own_stack {
    uintptr_t start, end;
    bool is_main; /* which ends with the process, and grows with its limit */
};
struct sc_own_stack sc_own_stack(void);

/* Does the address lie there? False where it is not known. */
bool sc_own_stack_holds(uintptr_t address);

/* Reads what a frame has on a stack, as sc_peek_anyhow does, but with no pipe for the calling
 * thread's own stack from the running frame up, which is there. */
enum sc_stack_read { SC_STACK_READ, SC_STACK_IS_GONE, SC_STACK_UNKNOWN };
enum sc_stack_read sc_own_stack_read(void *into, uintptr_t address, size_t size_bytes);

/* Does the calling thread run on its own stack, with so many bytes left? False where it is not
 * known.
 */
bool sc_own_stack_has(size_t size_bytes);

/* Learns where the calling thread's own stack is, once for each thread. Called in wrappers of the
 * driver, since a libc hook may not ask the C library. One load when it is known. */
void sc_own_stack_learn(void);

#endif
