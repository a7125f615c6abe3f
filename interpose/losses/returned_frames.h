/* Finds locals in flight whose function has returned. No call frees a local, and no page of a stack
 * can be protected. So the thread itself looks before it waits, while its stack tells which
 * functions run: a local below the caller's frame is gone, and so is one whose frame's return
 * address is. For operations that another thread waits for, this is judged when they are known done
 * (track/inflight.h).
 *
 * Thread safe, not signal safe; errno is kept. No lock of the library may be held. */
#ifndef SC_INTERPOSE_LOSSES_RETURNED_FRAMES_H
#define SC_INTERPOSE_LOSSES_RETURNED_FRAMES_H

#include <stdint.h>

#include "interpose/base/compiler.h"

struct sc_op_info;
struct sc_unwind_owner;

/* The interval in which locals of this thread may be in flight; empty: there are none. */
struct sc_returned_frames {
    uintptr_t low, high;
};
extern __thread struct sc_returned_frames sc_returned_frames
    __attribute__((tls_model("initial-exec")));

/* Notes in an operation of kind SC_STACK which function's local it uses. Called on the thread that
 * is about to record it. `known`: the frame of the last local of the same call; all 0 at first. */
void sc_returned_frames_note(struct sc_op_info *op, struct sc_unwind_owner *known);

/* Reports operations of this thread whose local is gone (SC201, or SC203 if the device writes it),
 * and drops them from the tracker. */
void sc_returned_frames_report(void);

/* Called by a wrapper before the thread waits: looks for locals in flight whose function has
 * returned. One load if the thread has no local in flight. */
static inline void sc_returned_frames_check(void)
{
    if (sc_unlikely(sc_returned_frames.high != 0))
        sc_returned_frames_report();
}

#endif
