/* Finds local variables in flight (used by an incomplete operation of the device) whose function
 * has returned. No call frees a local, and no page of a stack can be protected. So the thread
 * checks before it waits for the device, while its stack shows which functions run: a local below
 * the caller's frame is gone, and so is one whose frame has lost its return address. For operations
 * that another thread waits for, this is decided when they become known done (track/inflight.h).
 *
 * Thread-safe, not signal-safe; errno is kept. No lock of the library may be held. */

/* Terms (docs/glossary.md):
 *   in flight: issued, and the host does not know yet that it is done
 *   known done: waited for by the program, itself or by something behind it
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_LOSSES_RETURNED_FRAMES_H
#define SC_INTERPOSE_LOSSES_RETURNED_FRAMES_H

#include <stdint.h>

#include "interpose/base/compiler.h"

struct sc_op_info;
struct sc_unwind_owner;

/* The interval of this thread's stack in which local variables may be in flight; empty: none are.
 */
struct sc_returned_frames {
    uintptr_t low, high;
};
extern __thread struct sc_returned_frames sc_returned_frames
    __attribute__((tls_model("initial-exec")));

/* Stores in an operation on a stack (SC_STACK) which function's local variable it uses. Called on
 * the thread that is about to record it. `known`: the frame of the last local of the same call, all
 * 0 at first; saves a walk over the stack for each. */
void sc_returned_frames_note(struct sc_op_info *op, struct sc_unwind_owner *known);

/* Reports the operations of this thread that still use a local variable of a function that has
 * returned (SC201, or SC203 if the device writes it), and removes them from the tracker. */
void sc_returned_frames_report(void);

/* Called by a wrapper before the thread waits for the device: reports locals of this thread that
 * are in flight although their function has returned, if there may be any. One load if there is
 * none. */
static inline void sc_returned_frames_check(void)
{
    if (sc_unlikely(sc_returned_frames.high != 0))
        sc_returned_frames_report();
}

#endif
