/* Marks that a function leaves on its thread for as long as it runs.
 *
 * A signal handler may leave a function of ours by siglongjmp, and then nobody takes its mark away.
 * So a mark is the function's frame: the place of its return address, and that address. It is good
 * while the one still lies in the other. What is called instead from the same depth overwrites it,
 * and a frame on another stack (an alternate one, a fiber's) stays what it is meanwhile.
 *
 * No lock, no allocation; signal-safe; errno is kept.
 */
#ifndef SC_TRACK_FRAMES_H
#define SC_TRACK_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

struct sc_frame {
    uintptr_t place;  /* of the return address; 0: no mark */
    uintptr_t caller; /* the return address */
};

/* The return address lies behind the saved frame pointer, on x86-64 as on AArch64. */
static inline struct sc_frame sc_frame_at(const void *frame_address)
{
    const uintptr_t *words = frame_address;
    return (struct sc_frame){(uintptr_t)(words + 1), words[1]};
}

/* That of the function that it is written in. */
#define SC_FRAME() sc_frame_at(__builtin_frame_address(0))

/* Does the frame that left the mark still run on this thread? For a mark that there is. */
bool sc_frame_lives(const struct sc_frame *mark);

static inline bool sc_frame_is_marked(const struct sc_frame *mark)
{
    return __builtin_expect(mark->place != 0, 0) && sc_frame_lives(mark);
}

/* Leaves the mark of `frame`; what was there is to be given to sc_frame_leave. Every wrapper does
 * this: a mark is seldom there before, and so no more than half of it is moved to and fro. */
static inline struct sc_frame sc_frame_enter(struct sc_frame *mark, struct sc_frame frame)
{
    struct sc_frame outer = {0, 0};
    if (sc_frame_is_marked(mark))
        outer = *mark;
    *mark = frame;
    return outer;
}

static inline void sc_frame_leave(struct sc_frame *mark, const struct sc_frame *outer)
{
    mark->place = outer->place;
    if (__builtin_expect(outer->place != 0, 0))
        mark->caller = outer->caller;
}

#endif
