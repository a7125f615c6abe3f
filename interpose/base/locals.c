#include "interpose/base/locals.h"

#include "common/frames.h"
#include "interpose/base/thread_stack.h"
#include "interpose/base/unwind.h"

#include "common/poison.h"

/* Finds where the calling thread's stack begins, once. Not needed if no local lies below the
 * running frame (`here`), as only those are judged by it; except on AArch64, where a frame above
 * may hold an old return address (sc_frame_is_passed). */
void sc_locals_learn(struct sc_running *running, uintptr_t lowest)
{
    if (running->is_learnt || (lowest >= running->here && !SC_FRAMES_CAN_BE_PASSED))
        return;
    running->base = sc_unwind_base();
    running->is_learnt = true;
}

/* Is the local on the stack on which the thread runs? A thread may have several (coroutines).
 * Without libunwind no base is known, and the thread counts as having only one. */
static bool is_of_same_stack(const struct sc_local *local, const struct sc_running *running)
{
    return !local->base || local->base == running->base;
}

/* Is the return address of the local's function no longer where it lay? Then the function has
 * returned, and a later call has overwritten it or its stack was unmapped. */
static bool is_place_lost(const struct sc_frame *frame)
{
    uintptr_t found = 0;
    enum sc_stack_read read = sc_thread_stack_read(&found, frame->place, sizeof found);
    return read == SC_STACK_IS_GONE || (read == SC_STACK_READ && found != frame->caller);
}

/* Has the function returned whose local variable lies at the address? Yes, if the variable is below
 * the running frame on the same stack, or if the function's return address is overwritten.
 * `running` is NULL for a variable of another thread: then only the second can be known. */
bool sc_locals_is_gone(const struct sc_local *local, uintptr_t address,
                       const struct sc_running *running)
{
    bool is_same_stack = running && is_of_same_stack(local, running);
    if (is_same_stack && address < running->here)
        return true;
    return local->frame.place &&
           (is_place_lost(&local->frame) || (is_same_stack && sc_frame_is_passed(&local->frame)));
}
