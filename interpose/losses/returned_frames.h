/* Locals in flight whose function has returned: nothing is freed, and no page is touched that could
 * be protected. So the thread itself looks before it waits, when its functions can be told from its
 * stack: what lies below the caller is gone, and so is a frame whose return address is. What
 * another thread waits for is judged when it is known done (track/inflight.h).
 *
 * Thread safe, not signal safe; errno is kept. No lock of the library may be held.
 */
#ifndef SC_INTERPOSE_LOSSES_RETURNED_FRAMES_H
#define SC_INTERPOSE_LOSSES_RETURNED_FRAMES_H

#include <stdint.h>

#include "interpose/base/compiler.h"

struct sc_op_info;
struct sc_unwind_owner;

/* Where locals of this thread lie that may be in flight; empty: there are none. */
struct sc_returned_frames {
    uintptr_t low, high;
};
extern __thread struct sc_returned_frames sc_returned_frames
    __attribute__((tls_model("initial-exec")));

/* Notes whose local it is that the operation uses, which the calling thread is about to record: of
 * kind SC_STACK. `known` is of the last local of the same call, and all 0 at first. */
void sc_returned_frames_note(struct sc_op_info *op, struct sc_unwind_owner *known);

/* Reports operations of this thread whose local is gone (SC201; SC203 where the device writes it),
 * which are tracked no more. */
void sc_returned_frames_report(void);

/* The thread is about to wait, in a wrapper. One load where it has no local in flight. */
static inline void sc_returned_frames_look(void)
{
    if (sc_unlikely(sc_returned_frames.high != 0))
        sc_returned_frames_report();
}

#endif
