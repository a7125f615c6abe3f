/* How much of the program's signal handling goes through the library ("is shared"). It grows with
 * what the process does, and never shrinks:
 *
 *     nothing     Every hook of signals, masks and stacks passes its call on unchanged.
 *     handlers    From the first use of CUDA on: the library's handler is installed for each of the
 *                 program's and calls it, or postpones a signal that interrupts a thread within a
 *                 lock of the library (postponed_signal.h).
 *     faults      From the first page on that is guarded by mprotect, where a touch raises SIGSEGV:
 *                 the library's handler is installed for SIGSEGV, which Linux never has blocked
 *                 (signal_mask.h).
 *
 * In a process that does not use CUDA, or uses it with guard=off, nothing changes about SIGSEGV,
 * neither for the program nor for Linux.
 *
 * Thread-safe and signal-safe; lock-free. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   hook: our function in the place of one of the C library's
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_SIGNALS_SHARING_H
#define SC_INTERPOSE_SIGNALS_SHARING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum sc_sharing { SC_SHARING_NOTHING, SC_SHARING_HANDLERS, SC_SHARING_FAULTS };

/* How much is shared now, one of enum sc_sharing. The assembly of sigreturn.c reads it, as one
 * byte. */
extern _Atomic uint8_t sc_sharing_now __attribute__((visibility("hidden")));

/* Are the program's handlers called by the library's? One load. */
static inline bool sc_sharing_has_handlers(void)
{
    return __builtin_expect(
        atomic_load_explicit(&sc_sharing_now, memory_order_acquire) >= SC_SHARING_HANDLERS, 0);
}

/* Is SIGSEGV shared? One load. */
static inline bool sc_sharing_is_on(void)
{
    return __builtin_expect(
        atomic_load_explicit(&sc_sharing_now, memory_order_acquire) == SC_SHARING_FAULTS, 0);
}

/* Sets, at the start of the process, whether anything may ever be shared (`wanted`). */
void sc_sharing_start(bool wanted);

/* Was sc_sharing_start called with `wanted`? */
bool sc_sharing_is_wanted(void);

/* Can signals be shared in this process, which uses CUDA? Not if the library was not preloaded,
 * since the program's calls then do not reach the hooks. Takes the loader's lock. */
bool sc_sharing_is_possible(void);

/* Makes the library share signals to the extent `much` from now on. Hooks on other threads may be
 * within a call that they have passed on unchanged: they check again when it returns. */
void sc_sharing_grow(enum sc_sharing much);

/* Records that the calling process, a forked child, has signals of its own from now on (for
 * sc_sharing_is_vfork_child). */
void sc_sharing_child(void);

/* Is the calling thread in a child that shares its parent's memory (vfork)? Such a child must not
 * record its own signal state in that memory. A system call. */
bool sc_sharing_is_vfork_child(void);

#endif
