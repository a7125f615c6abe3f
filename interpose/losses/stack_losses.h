/* Operations that are in flight on a thread's stack when the thread ends.
 *
 * The C library then unmaps the stack, drops its pages or gives it to the next thread, and no hook
 * sees that. So a thread that issues an operation on its own stack runs a function of ours at its
 * end, before the stack goes. What is in flight there is reported (SC104), and in mode=fix waited
 * for. Another thread's stack is not known, and the main thread's stays.
 *
 * Thread safe, not signal safe; errno is kept.
 */
#ifndef SC_INTERPOSE_LOSSES_STACK_LOSSES_H
#define SC_INTERPOSE_LOSSES_STACK_LOSSES_H

#include "track/op_info.h"

/* Notes an operation on pageable memory, in case that is the calling thread's stack, as
 * sc_stack_losses_note does. */
void sc_stack_losses_note_heap(const struct sc_op_info *op);

/* Notes an operation that the calling thread has issued. No lock may be held. Two loads if the
 * operation is not on the thread's stack, except for a thread's first operation. */
static inline void sc_stack_losses_note(const struct sc_op_info *op)
{
    if (sc_ops_is_heap(op->kind))
        sc_stack_losses_note_heap(op);
}

#endif
