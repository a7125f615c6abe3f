/* Reports operations that are in flight on a thread's stack when the thread ends.
 *
 * The C library then unmaps the stack, drops its pages or gives it to the next thread, and no hook
 * sees that. So a thread that issues an operation on its own stack gets a destructor, which runs at
 * its end before the stack goes. Operations in flight there are reported (SC104), and in mode=fix
 * waited for. Operations on another thread's stack are not found, and the main thread's stack
 * stays.
 *
 * Thread-safe, not signal-safe; errno is kept. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 */

#ifndef SC_INTERPOSE_LOSSES_STACK_LOSSES_H
#define SC_INTERPOSE_LOSSES_STACK_LOSSES_H

#include "track/op_info.h"

/* If the operation is on the calling thread's own stack, has a destructor called at the thread's
 * end, before the stack goes. The caller knows only that the operation uses memory which libc can
 * take away. */
void sc_stack_losses_note_heap(const struct sc_op_info *op);

/* Called when an operation was issued: if it is on the calling thread's own stack, has a destructor
 * called at the thread's end, which waits for it before the stack goes. No lock may be held. Two
 * loads if it is not, except for a thread's first operation. */
static inline void sc_stack_losses_note(const struct sc_op_info *op)
{
    if (sc_ops_is_heap(op->kind))
        sc_stack_losses_note_heap(op);
}

#endif
