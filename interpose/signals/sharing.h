/* How many of the program's signals are handled by way of the library. That grows with what the
 * process does, and never shrinks:
 *
 *     nothing     Every hook of signals, masks and stacks passes its call on as it is.
 *     handlers    From the first use of CUDA on: handlers are entered by way of the library, which
 *                 postpones a signal that interrupts a lock of its own (postponed_signal.h).
 *     faults      From the first page on that is guarded by mprotect: a touch of that page is a
 *                 SIGSEGV, so SIGSEGV is shared, and never really blocked (signal_mask.h).
 *
 * In a process that does not use CUDA, or uses it with guard=off, nothing changes about SIGSEGV,
 * neither for the program nor for the kernel.
 *
 * Thread safe and signal safe; lock-free.
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

/* Are handlers of signals entered by way of the library? One load. */
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

/* Sets at the start of the process whether anything may ever be shared (`wanted`). */
void sc_sharing_start(bool wanted);

/* Was sc_sharing_start told that sharing is wanted? */
bool sc_sharing_is_wanted(void);

/* Can signals be shared in this process, which uses CUDA? Not if the library was not preloaded,
 * since the program's calls do not reach our hooks then. Takes the loader's lock. */
bool sc_sharing_is_possible(void);

/* From now on `much` is shared. Hooks on other threads may still be within a call that they have
 * passed on: they look again when it returns. */
void sc_sharing_grow(enum sc_sharing much);

/* In a forked child: its signals are its own from now on. */
void sc_sharing_child(void);

/* Is the calling thread in a child that shares its parent's memory (vfork)? Such a child must not
 * leave word of its own signals in that memory. A system call. */
bool sc_sharing_is_vfork_child(void);

#endif
