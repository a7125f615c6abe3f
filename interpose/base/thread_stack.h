/* Finds where stacks are: those of threads, and those on which threads handle signals (alternate
 * stacks). The guard must not protect some of them.
 *
 * Thread-safe; async-signal-safe except for sc_thread_stack_learn, which calls the C library. No
 * lock of the library; errno is kept. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_BASE_THREAD_STACK_H
#define SC_INTERPOSE_BASE_THREAD_STACK_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does the interval overlap a stack whose pages must never be protected, since Linux could not
 * deliver a signal there? These are all threads' alternate stacks (sigaltstack), the calling
 * thread's stack, and the stack on which it runs now. */
bool sc_thread_stack_overlaps(uintptr_t address, size_t size_bytes);

/* Does the interval overlap the main thread's stack, at the size to which it may grow? Such memory
 * ends only with the process. */
bool sc_thread_stack_overlaps_main(uintptr_t address, size_t size_bytes);

/* Records that the calling thread handles signals on `stack` from now on, or on no alternate stack
 * (SS_DISABLE). Called when the program calls sigaltstack. */
void sc_thread_stack_note_alternate(const stack_t *stack);

/* Returns the calling thread's stack; empty if it is not known. */
struct sc_thread_stack {
    uintptr_t start, end;
    bool is_main; /* it grows up to its limit, and lasts as long as the process */
};
struct sc_thread_stack sc_thread_stack(void);

/* Does the address lie on the calling thread's stack? False if that is not known. */
bool sc_thread_stack_holds(uintptr_t address);

/* Reads what lies less than 4 KB above the running frame on the calling thread's stack. Such bytes
 * are certain to be mapped, so they need no system call, as others do (sc_thread_stack_read).
 * False: the address lies elsewhere, and nothing is read. */
bool sc_thread_stack_copy(void *into, uintptr_t address, size_t size_bytes);

/* Reads from a stack, as sc_peek_anyhow does; the calling thread's stack, from the running frame
 * up, is read directly, since it is certain to be mapped. SC_STACK_IS_GONE: nothing is mapped at
 * the address; SC_STACK_UNKNOWN: it cannot be read now. */
enum sc_stack_read { SC_STACK_READ, SC_STACK_IS_GONE, SC_STACK_UNKNOWN };
enum sc_stack_read sc_thread_stack_read(void *into, uintptr_t address, size_t size_bytes);

/* Does the calling thread run on its own stack (not an alternate or other one), with more than
 * `size_bytes` left? False if that is not known. */
bool sc_thread_stack_has_room(size_t size_bytes);

/* Finds where the calling thread's stack is, once in each thread. Called by the wrappers of the
 * driver, since a libc hook must not call pthread_getattr_np. One load once it is known. */
void sc_thread_stack_learn(void);

#endif
