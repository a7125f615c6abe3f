/* Records that a function is running on its thread.
 *
 * A signal handler may leave a function of the library by siglongjmp, and then no code clears the
 * record. So the record is the function's frame: where on the stack its return address lies, and
 * that address. The record is valid while the address still lies there. A function that is called
 * later from the same depth overwrites it (but see sc_frame_is_passed). A frame on another stack
 * (an alternate one, a fiber's) is not overwritten meanwhile. While the thread runs on a spare
 * stack of the library, frames are checked as seen from where the thread left its other stack.
 *
 * A record belongs to one thread. No lock, no allocation; signal-safe; errno is kept. */

/* Terms (docs/glossary.md):
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_TOOLS_FRAMES_H
#define SC_TOOLS_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* A function's frame on the stack, recorded to find out later whether the function still runs,
 * even if it was left by siglongjmp: it runs while its return address is in its place. */
struct sc_frame {
    uintptr_t place;  /* where the return address lies; 0: nothing is recorded */
    uintptr_t caller; /* the return address */
};

/* The function that a local variable belongs to. The variable's address alone does not show whether
 * its function has returned: a thread may run on several stacks, and one of them may lie in an
 * array on another. */
struct sc_local {
    struct sc_frame frame; /* the function's; place 0: unknown */
    uintptr_t base;        /* where its stack begins (sc_unwind_base); 0: unknown */
};

/* Returns the record of the frame at this address. The return address is stored after the saved
 * frame pointer, on x86-64 as on AArch64. */
static inline struct sc_frame sc_frame_at(const void *frame_address)
{
    const uintptr_t *words = frame_address;
    return (struct sc_frame){(uintptr_t)(words + 1), words[1]};
}

/* The frame of the function in which this is written. */
#define SC_FRAME() sc_frame_at(__builtin_frame_address(0))

/* A spare stack of the library's on which the thread runs for a while. */
struct sc_frame_detour {
    uintptr_t top;  /* the upper end of that stack */
    uintptr_t left; /* the frame from which the thread went there; 0: it is on its own stack */
};

/* Records on which spare stack the thread runs, and returns what was recorded before. Called by the
 * frame that switches to a spare stack, before and after. */
struct sc_frame_detour sc_frame_set_detour(struct sc_frame_detour detour);

/* Is the function whose frame was recorded still running on this thread? It may have been left by
 * siglongjmp, of which nobody tells. The record must have a place. */
bool sc_frame_lives(const struct sc_frame *record);

/* Has the function returned, although its return address still lies in the frame? On AArch64 the
 * address is stored at the low end of a frame, and a function that is called later from the same
 * depth need not overwrite it. Elsewhere always false. The frame must be on the stack on which the
 * thread runs. */
bool sc_frame_is_passed(const struct sc_frame *record);

/* Can sc_frame_is_passed be true at all? */
#ifdef __aarch64__
enum { SC_FRAMES_CAN_BE_PASSED = 1 };
#else
enum { SC_FRAMES_CAN_BE_PASSED = 0 };
#endif

/* Is a frame recorded, and is its function still running? Usually none is, which takes a load. */
static inline bool sc_frame_is_noted(const struct sc_frame *record)
{
    return __builtin_expect(record->place != 0, 0) && sc_frame_lives(record);
}

/* Records `frame`, and returns what was recorded there before, for sc_frame_leave. Every wrapper
 * does this, and usually nothing was recorded, so only one member is copied back then. */
static inline struct sc_frame sc_frame_enter(struct sc_frame *record, struct sc_frame frame)
{
    struct sc_frame outer = {0, 0};
    if (sc_frame_is_noted(record))
        outer = *record;
    *record = frame;
    return outer;
}

/* Records again what was recorded before sc_frame_enter, as the function ends. Usually that is
 * nothing, and one member is stored. */
static inline void sc_frame_leave(struct sc_frame *record, const struct sc_frame *outer)
{
    record->place = outer->place;
    if (__builtin_expect(outer->place != 0, 0))
        record->caller = outer->caller;
}

#endif
