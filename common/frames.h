/* Notes that a function leaves on its thread for as long as it runs.
 *
 * A signal handler may leave a function of ours by siglongjmp, and then nobody takes the note away.
 * So a note is the function's frame: the place of its return address, and that address. The note is
 * good while the address still lies in the place. A function that is called later from the same
 * depth overwrites the place (but see sc_frame_is_passed). A frame on another stack (an
 * alternate one, a fiber's) stays as it is meanwhile. While the thread is on a stack of ours,
 * frames are looked at from where it left its own.
 *
 * A note belongs to one thread. No lock, no allocation; signal-safe; errno is kept.
 */
#ifndef SC_TOOLS_FRAMES_H
#define SC_TOOLS_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

struct sc_frame {
    uintptr_t place;  /* of the return address; 0: no note */
    uintptr_t caller; /* the return address */
};

/* Whose a local is. A thread may run on several stacks, and one of them may lie in an array that is
 * on another: so where a local lies does not tell whether its function has returned. */
struct sc_local {
    struct sc_frame frame; /* the function's; place 0: unknown */
    uintptr_t base;        /* where its stack begins (sc_unwind_base); 0: unknown */
};

/* The return address lies behind the saved frame pointer, on x86-64 as on AArch64. */
static inline struct sc_frame sc_frame_at(const void *frame_address)
{
    const uintptr_t *words = frame_address;
    return (struct sc_frame){(uintptr_t)(words + 1), words[1]};
}

/* The frame of the function in which this is written. */
#define SC_FRAME() sc_frame_at(__builtin_frame_address(0))

/* A stack of ours that the thread is on. */
struct sc_frame_detour {
    uintptr_t top;  /* of that stack */
    uintptr_t left; /* the frame from which the thread went there; 0: it is on its own stack */
};

/* Called by the frame that goes there, before and after. Returns what was set before. */
struct sc_frame_detour sc_frame_set_detour(struct sc_frame_detour detour);

/* Does the function that left the note still run on this thread? Needs a note: a place. */
bool sc_frame_lives(const struct sc_frame *note);

/* Has the function returned, although its return address is still there? On AArch64 the
 * address lies at the low end of a frame. A function that is called later from the same depth need
 * not overwrite the address there. Needs: the note is of the stack on which the thread runs.
 * Elsewhere always false.
 */
bool sc_frame_is_passed(const struct sc_frame *note);

/* May that be true at all? */
#ifdef __aarch64__
enum { SC_FRAMES_CAN_BE_PASSED = 1 };
#else
enum { SC_FRAMES_CAN_BE_PASSED = 0 };
#endif

/* Is there a note, of a function that still runs? */
static inline bool sc_frame_is_noted(const struct sc_frame *note)
{
    return __builtin_expect(note->place != 0, 0) && sc_frame_lives(note);
}

/* Leaves the note of `frame`. The caller gives what is returned, the note that was there, to
 * sc_frame_leave. Every wrapper does this, and a note is seldom there before: so no more than half
 * of it is moved to and fro. */
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
