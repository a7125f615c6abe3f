/* Call stacks, taken with libunwind.
 *
 * libunwind is loaded at run time, from the folder of this library or else from the system, so that
 * a program never fails to start for want of it. Without it, stacks are one frame deep.
 * sc_unwind_here neither allocates with malloc nor takes a lock that the driver could hold.
 *
 * A program copies from the same few places over and over. So a stack that was seen before, from
 * the same place and at the same stack depth, is recognised by its return addresses in their
 * places. That costs a load for each frame instead of an unwinding step (stack_cache.h).
 */
#ifndef SC_INTERPOSE_BASE_UNWIND_H
#define SC_INTERPOSE_BASE_UNWIND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/frames.h"
#include "interpose/base/compiler.h"
#include "interpose/base/python_stacks.h"
#include "interpose/base/stack_cache.h"

struct sc_options;

/* Loads libunwind. To be called before the first stack. Says on stderr (verbosity permitting) what
 * could not be loaded. Several threads may call it at once: each looks for itself and finds the
 * same. Takes the loader's lock, and none of ours meanwhile. */
void sc_unwind_start(const struct sc_options *options);

/* Called before and after what may close a module. The second takes the loader's lock. */
void sc_unwind_note_closing(void);
void sc_unwind_note_closed(void);

/* Are stacks taken in full (stacks=full), and does our dlclose see modules that are closed, so that
 * recognised stacks are right? */
extern _Atomic bool sc_unwind_is_plain;

/* Is a recognised stack complete as it is? Not if Python frames must be added. */
static inline bool sc_unwind_is_whole(void)
{
    return atomic_load_explicit(&sc_unwind_is_plain, memory_order_relaxed) &&
           !sc_python_stacks_run();
}

/* Notes that the library is not preloaded: our hook of dlclose is not called, so nobody tells of
 * closed modules, and no stack may be recognised. */
void sc_unwind_note_alone(void);

/* Are stacks more than one frame deep? */
bool sc_unwind_is_deep(void);

/* The id of the caller's stack (track/stacks.h). `site` is the address to which the hook returns:
 * frames inside of the hook are ours and are left out. errno is kept. */
uint32_t sc_unwind_here(void *site);

/* A quick look for a stack that was seen before, for what programs call most. NULL: the stack is
 * not known, or not by this look; then sc_unwind_at is to be called with the same arguments.
 * `depth` is an address in the caller's frame, or in that of one of its callers within `site`, the
 * same for every call along the same path. */
SC_INLINED struct sc_stack_known *sc_unwind_known(const void *site, uintptr_t depth)
{
    return sc_likely(sc_unwind_is_whole()) ? sc_stack_cache_recognise(site, depth) : NULL;
}

/* The id of the stack with this site and depth. */
uint32_t sc_unwind_at(void *site, uintptr_t depth);

/* The same as an origin (track/origins.h): of the call `api`, under the label. For wrappers of the
 * driver only. */
uint32_t sc_unwind_origin_at(const char *api, void *site, uint32_t label, uintptr_t depth);

/* The id of the stack of an interrupted context (ucontext_t), as a signal handler has it, whose
 * program counter is `pc`. The call may run on another stack, and needs 12 KB of that. */
uint32_t sc_unwind_from(const void *context, uintptr_t pc);

/* Writes the frames of such a context, `max` at most and at least the first. Returns how many. */
unsigned sc_unwind_frames(const void *context, uintptr_t pc, void **frames, unsigned max);

/* Does `is_sought` hold for the return address of any caller, however deep the stack is? */
bool sc_unwind_any_caller(const void *context, bool (*is_sought)(uintptr_t address));

/* Where the stack begins on which the calling thread runs: the end of the outermost frame that
 * unwind information leads to. 0: unknown. */
uintptr_t sc_unwind_base(void);

/* The frame on the calling thread's stack in which an address lies. */
struct sc_unwind_owner {
    uintptr_t low, high;   /* the frame's part of the stack, [low, high); 0: unknown */
    struct sc_local local; /* the function that has a local there; maybe the base alone */
    uintptr_t pc;          /* where the frame's function goes on */
};

/* Finds the frame in which the address lies, whatever the option `stacks` says. Frames without
 * unwind information are never found, since memory is kept by the answer. */
struct sc_unwind_owner sc_unwind_owner_of(uintptr_t address);

#endif
