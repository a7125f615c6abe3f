/* Knows where stacks are: those of threads, and those on which threads handle signals. The guard
 * must not protect some of them.
 *
 * Thread-safe; async-signal-safe but for sc_thread_stack_learn, which asks the C library. No lock
 * of ours; errno is kept. */
#ifndef SC_INTERPOSE_BASE_THREAD_STACK_H
#define SC_INTERPOSE_BASE_THREAD_STACK_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does the interval touch a stack whose pages must never be protected, since the kernel could not
 * deliver a signal there? Such are the stacks on which threads handle signals (sigaltstack), the
 * calling thread's own, and the one on which it runs. */
bool sc_thread_stack_overlaps(uintptr_t address, size_t size_bytes);

/* Does the interval touch the main thread's stack, counted as large as it may grow? */
bool sc_thread_stack_overlaps_main(uintptr_t address, size_t size_bytes);

/* Notes that the calling thread handles signals on `stack` from now on, or on no such stack
 * (SS_DISABLE). */
void sc_thread_stack_note_alternate(const stack_t *stack);

/* The calling thread's own stack; empty if it is not known. */
struct sc_thread_stack {
    uintptr_t start, end;
    bool is_main; /* it grows up to its limit, and lasts as long as the process */
};
struct sc_thread_stack sc_thread_stack(void);

/* Does the address lie on the calling thread's own stack? False where that is not known. */
bool sc_thread_stack_holds(uintptr_t address);

/* Reads what lies a little above the running frame on the calling thread's own stack: it is sure
 * to be there. False: the address lies elsewhere, and nothing is read. */
bool sc_thread_stack_copy(void *into, uintptr_t address, size_t size_bytes);

/* Reads what a frame has on a stack, as sc_peek_anyhow does. The calling thread's own stack, from
 * the running frame up, is read directly, since it is sure to be there. SC_STACK_IS_GONE: nothing
 * is mapped at the address; SC_STACK_UNKNOWN: nothing can be read now. */
enum sc_stack_read { SC_STACK_READ, SC_STACK_IS_GONE, SC_STACK_UNKNOWN };
enum sc_stack_read sc_thread_stack_read(void *into, uintptr_t address, size_t size_bytes);

/* Does the calling thread run on its own stack, with more than `size_bytes` left? False where that
 * is not known. */
bool sc_thread_stack_has_room(size_t size_bytes);

/* Learns where the calling thread's own stack is, once in each thread. Wrappers of the driver call
 * it, since a libc hook must not ask the C library. One load once it is known. */
void sc_thread_stack_learn(void);

#endif
