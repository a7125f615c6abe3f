#include "interpose/losses/returned_frames.h"

#include <stdint.h>

#include "common/op_kinds.h"
#include "common/shape.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/locals.h"
#include "interpose/base/process.h"
#include "interpose/base/thread_stack.h"
#include "interpose/base/unwind.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/deallocation.h"
#include "interpose/reaper/hazards.h"
#include "track/op_info.h"
#include "track/stacks.h"
#include "track/track_holds.h"
#include "track/track_views.h"

#include "common/poison.h"

__thread struct sc_returned_frames sc_returned_frames;

/* Widens the interval of this thread's stack in which local variables may be in flight: only if
 * there is one are waits checked. */
static void widen_interval(uintptr_t low, uintptr_t high)
{
    struct sc_returned_frames *known = &sc_returned_frames;
    if (known->high == 0 || low < known->low)
        known->low = low;
    if (high > known->high)
        known->high = high;
}

/* Stores in the operation in which function's frame its memory lies, so that its return is seen. A
 * local of the same call in the same frame (`known`) saves the walk over the stack. The report
 * names the function by the frame's address. */
void sc_returned_frames_note(struct sc_op_info *op, struct sc_unwind_owner *known)
{
    uintptr_t address = op->shape.address;
    widen_interval(address, address + sc_shape_hull_bytes(&op->shape));
    if (address < known->low || address >= known->high)
        *known = sc_unwind_owner_of(address);
    void *pc = (void *)known->pc;
    op->local = known->local;
    op->frame_stack = pc && sc_unwind_is_deep() ? sc_stacks_put(&pc, 1) : 0;
}

/* ---- the search ---- */

/* Returns the lowest address of the program's part of the running stack. A local below is gone:
 * there lie the frames of the wrapper and of the library. */
static uintptr_t lowest_of_program(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t wrapper = sc_current_call.carrying.place;
    return sc_thread_stack_holds(wrapper) && wrapper > here ? wrapper : here;
}

/* Where this thread's stack is during a search for locals of functions that have returned. */
static __thread struct sc_running running;

/* For the search: does the operation use a local variable of this thread whose function has
 * returned? */
static bool is_gone(const struct sc_op_info *op)
{
    return op->kind == SC_STACK && op->thread == sc_thread_id() &&
           sc_locals_is_gone(&op->local, op->shape.address, &running);
}

/* Called before this thread waits for the device, since after the wait nothing is in flight:
 * reports operations on local variables whose functions have returned. Not on another stack than
 * the thread's own (a coroutine's), on which the frames tell nothing of those locals. */
void sc_returned_frames_report(void)
{
    static const struct sc_culprit nobody = {"return", NULL, NULL};
    struct sc_returned_frames *known = &sc_returned_frames;
    const uintptr_t low = known->low;
    const size_t size_bytes = known->high - low;
    SC_KEEP_ERRNO();
    if (!sc_track_may_have(&sc_track, SC_NEAR_HEAP_OPERATIONS, low, size_bytes)) {
        known->high = 0;
    } else if (sc_thread_stack_holds((uintptr_t)__builtin_frame_address(0))) {
        running = (struct sc_running){.here = lowest_of_program()};
        sc_locals_learn(&running, low);
        SC_DEALLOCATION request = {.address = low, .size_bytes = size_bytes, .hurts = is_gone};
        sc_deallocation_search(&request, &nobody);
        sc_hazards_report_returned(&request.found);
    }
}
