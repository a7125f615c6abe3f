/* Handles touches (reads and writes) of protected memory, which an incomplete operation of the
 * device uses, by a system call of the program, as of the buffer of a read(). They are reported,
 * and wait in mode=fix, like touches by the program's instructions.
 *
 * A touch is handled on a spare stack (interpose/base/spare_stack.h) with signals blocked. The wait
 * itself holds no lock and needs no cleanup, so a signal handler may leave it by siglongjmp at any
 * time.
 *
 * Thread-safe and signal-safe; errno is kept. Locks: takes the guard's and the tracker's, one after
 * the other. Called by a handler that has interrupted one of these, it takes none. */

/* Terms (docs/glossary.md):
 *   culprit: the call or instruction that came too early
 *   guard: page protection of the memory of operations in flight
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_GUARD_TOUCHES_H
#define SC_INTERPOSE_GUARD_TOUCHES_H

#include <stddef.h>

enum sc_touch;
struct sc_culprit;

/* Handles a touch of the interval that a system call is about to make; the call would fail with
 * EFAULT instead of faulting. Reports and waits as for a touch by an instruction, and then
 * unprotects every page of the interval. `culprit`: the call. */
void sc_touches_by_kernel(const void *address, size_t size_bytes, enum sc_touch touch,
                          const struct sc_culprit *culprit);

#endif
