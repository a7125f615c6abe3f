#include "interpose/base/locals.h"

#include "common/frames.h"
#include "interpose/base/thread_stack.h"
#include "interpose/base/unwind.h"

#include "common/poison.h"

/* Finds where the calling thread's stack begins, once, if the answer for variables at or above
 * `lowest` depends on it. */
void sc_locals_learn(struct sc_running *running, uintptr_t lowest)
{
    if (running->is_learnt || (lowest >= running->here && !SC_FRAMES_CAN_BE_PASSED))
        return;
    running->base = sc_unwind_base();
    running->is_learnt = true;
}

/* Is the local on the stack that runs? Without libunwind no base is known, and only that stack. */
static bool is_of_same_stack(const struct sc_local *local, const struct sc_running *running)
{
    return !local->base || local->base == running->base;
}

/* Is the return address of the local's function no longer in its place? */
static bool is_place_lost(const struct sc_frame *frame)
{
    uintptr_t found = 0;
    enum sc_stack_read read = sc_thread_stack_read(&found, frame->place, sizeof found);
    return read == SC_STACK_IS_GONE || (read == SC_STACK_READ && found != frame->caller);
}

/* Has the function returned whose local variable lies at the address? */
bool sc_locals_is_gone(const struct sc_local *local, uintptr_t address,
                       const struct sc_running *running)
{
    bool same = running && is_of_same_stack(local, running);
    if (same && address < running->here)
        return true;
    return local->frame.place &&
           (is_place_lost(&local->frame) || (same && sc_frame_is_passed(&local->frame)));
}
