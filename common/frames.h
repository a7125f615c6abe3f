/* Notes that a function leaves on its thread for as long as it runs.
 *
 * A signal handler may leave a function of ours by siglongjmp, and then nobody takes the note away.
 * So a note is the function's frame: the place of its return address, and that address. The note is
 * valid while the address still lies in the place. A function that is called later from the same
 * depth overwrites the place (but see sc_frame_is_passed). A frame on another stack (an alternate
 * one, a fiber's) stays as it is meanwhile. While the thread is on a stack of the library's, frames
 * are judged from where the thread left its own stack.
 *
 * A note belongs to one thread. No lock, no allocation; signal-safe; errno is kept. */
#ifndef SC_TOOLS_FRAMES_H
#define SC_TOOLS_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

struct sc_frame {
    uintptr_t place;  /* of the return address; 0: no note */
    uintptr_t caller; /* the return address */
};

/* The function to which a local belongs. Where a local lies does not tell whether its function has
 * returned: a thread may run on several stacks, and one of them may lie in an array on another. */
struct sc_local {
    struct sc_frame frame; /* the function's; place 0: unknown */
    uintptr_t base;        /* where its stack begins (sc_unwind_base); 0: unknown */
};

/* The note of the frame at this address. The return address lies behind the saved frame pointer, on
 * x86-64 as on AArch64. */
static inline struct sc_frame sc_frame_at(const void *frame_address)
{
    const uintptr_t *words = frame_address;
    return (struct sc_frame){(uintptr_t)(words + 1), words[1]};
}

/* The frame of the function in which this is written. */
#define SC_FRAME() sc_frame_at(__builtin_frame_address(0))

/* A stack of the library's that the thread is on. */
struct sc_frame_detour {
    uintptr_t top;  /* the upper end of that stack */
    uintptr_t left; /* the frame from which the thread went there; 0: it is on its own stack */
};

/* Sets the detour. Called by the frame that goes to such a stack, before and after. Returns what
 * was set before. */
struct sc_frame_detour sc_frame_set_detour(struct sc_frame_detour detour);

/* Does the function that left the note still run on this thread? The note must have a place. */
bool sc_frame_lives(const struct sc_frame *note);

/* Has the function returned, although its return address is still in its place? On AArch64 the
 * address lies at the low end of a frame, and a function that is called later from the same depth
 * need not overwrite it. Elsewhere always false. The note must be of the stack on which the thread
 * runs. */
bool sc_frame_is_passed(const struct sc_frame *note);

/* Can sc_frame_is_passed be true at all? */
#ifdef __aarch64__
enum { SC_FRAMES_CAN_BE_PASSED = 1 };
#else
enum { SC_FRAMES_CAN_BE_PASSED = 0 };
#endif

/* Is there a note, and does its function still run? */
static inline bool sc_frame_is_noted(const struct sc_frame *note)
{
    return __builtin_expect(note->place != 0, 0) && sc_frame_lives(note);
}

/* Leaves the note of `frame`. Returns the note that was there, for sc_frame_leave. Every wrapper
 * does this, and there is seldom a note already, so only half of it is copied then. */
static inline struct sc_frame sc_frame_enter(struct sc_frame *note, struct sc_frame frame)
{
    struct sc_frame outer = {0, 0};
    if (sc_frame_is_noted(note))
        outer = *note;
    *note = frame;
    return outer;
}

static inline void sc_frame_leave(struct sc_frame *note, const struct sc_frame *outer)
{
    note->place = outer->place;
    if (__builtin_expect(outer->place != 0, 0))
        note->caller = outer->caller;
}

#endif
