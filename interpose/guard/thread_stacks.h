/* Stacks of threads: what is in flight on one when its thread ends.
 *
 * The C library unmaps the stack, drops its pages or gives it to the next thread, on ways that no
 * hook sees. So a thread that issues an operation on its own stack is met again at its end, before
 * that: what is in flight there is reported (SC104), and in mode=fix waited for. Known are stacks
 * of the threads that issue by themselves, and not the main thread's, which stays.
 */
#ifndef SC_INTERPOSE_GUARD_THREAD_STACKS_H
#define SC_INTERPOSE_GUARD_THREAD_STACKS_H

#include "track/track.h"

struct sc_op_info;

/* The operation has been issued by the calling thread. No lock may be held. Two loads where it is
 * not on the stack, but for the first one of a thread. */
void sc_thread_stacks_note(const struct sc_op_info *op);

#endif
