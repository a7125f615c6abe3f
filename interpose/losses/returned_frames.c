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

/* Widens the interval in which locals of this thread may be in flight. */
static void widen_interval(uintptr_t low, uintptr_t high)
{
    struct sc_returned_frames *known = &sc_returned_frames;
    if (known->high == 0 || low < known->low)
        known->low = low;
    if (high > known->high)
        known->high = high;
}

/* Stores in the operation in which function's frame its memory lies, so that it is seen when that
 * function has returned. */
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

/* Returns the lowest address of the program's part of the stack. Below lie the library and the
 * wrapper that called it. */
static uintptr_t lowest_of_program(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t wrapper = sc_current_call.carrying.place;
    return sc_thread_stack_holds(wrapper) && wrapper > here ? wrapper : here;
}

/* Set only during a search. */
static __thread struct sc_running running;

/* Does the operation use a local of this thread whose function has returned? */
static bool is_gone(const struct sc_op_info *op)
{
    return op->kind == SC_STACK && op->thread == sc_thread_id() &&
           sc_locals_is_gone(&op->local, op->shape.address, &running);
}

/* Reports operations in flight on variables of functions that have returned meanwhile. */
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
