/* Stacks of threads: what is in flight on one when its thread ends.
 *
 * The C library unmaps the stack, drops its pages or gives it to the next thread, and no hook sees
 * that. So a thread that issues an operation on its own stack is met again at its end, before the
 * stack goes. What is in flight there is reported (SC104), and in mode=fix waited for. Another
 * thread's stack is not known, and the main thread's stays.
 *
 * Thread safe, not signal safe; errno is kept.
 */
#ifndef SC_INTERPOSE_LOSSES_THREAD_STACKS_H
#define SC_INTERPOSE_LOSSES_THREAD_STACKS_H

#include "track/op_info.h"

/* The same for an operation on pageable memory. */
void sc_thread_stacks_note_heap(const struct sc_op_info *op);

/* Notes an operation that the calling thread has issued. No lock may be held. Costs two loads where
 * the operation is not on the thread's stack, but for the first operation of a thread. */
static inline void sc_thread_stacks_note(const struct sc_op_info *op)
{
    if (sc_ops_is_heap(op->kind))
        sc_thread_stacks_note_heap(op);
}

#endif
