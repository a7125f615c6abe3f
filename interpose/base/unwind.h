/* Call stacks, taken with libunwind.
 *
 * libunwind is loaded at run time, from the folder of this library or else the system's, so that a
 * program never fails to start for want of it; without it, stacks are one frame deep.
 * sc_unwind_here neither allocates with malloc nor takes a lock that the driver could hold.
 *
 * A program copies from the same few places over and over. So a stack that was seen before from
 * the same place and stack depth is recognised by its return addresses, where they lie. That costs
 * a load for each frame instead of an unwinding step (stack_cache.h).
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

/* Before the first stack. Says on stderr (verbosity permitting) what it could not load. Threads may
 * come at once: each looks for itself and finds the same. Takes the loader's lock, and none of ours
 * meanwhile. */
void sc_unwind_start(const struct sc_options *options);

/* Around what may close a module. The second takes the loader's lock. */
void sc_unwind_note_closing(void);
void sc_unwind_note_closed(void);

/* Whole stacks are taken, and the loader tells of what it closes. */
extern _Atomic bool sc_unwind_is_plain;

/* Is a stack as it is found all that there is to it? */
static inline bool sc_unwind_is_whole(void)
{
    return atomic_load_explicit(&sc_unwind_is_plain, memory_order_relaxed) &&
           !sc_python_stacks_run();
}

/* The library is not preloaded: nobody calls our dlclose. */
void sc_unwind_note_alone(void);

/* Are stacks more than one frame deep? */
bool sc_unwind_is_deep(void);

/* The id of the caller's stack (track/stacks.h). `site` is the address that the hook returns to:
 * frames inside of it are ours and are left out. errno is kept. */
uint32_t sc_unwind_here(void *site);

/* A stack that was seen before, without much ado, for what programs call most; NULL: it is not
 * known, or not by such a look, and sc_unwind_at is to be asked of the same. `depth` is an address
 * in the caller's own frame, the same for every call along the same path, or in that of a caller's
 * within `site`. */
SC_INLINED struct sc_stack_known *sc_unwind_known(const void *site, uintptr_t depth)
{
    return sc_likely(sc_unwind_is_whole()) ? sc_stack_cache_recognise(site, depth) : NULL;
}

uint32_t sc_unwind_at(void *site, uintptr_t depth);

/* The same as an origin (track/origins.h) of the call `api` under the label. In wrappers of the
 * driver alone. */
uint32_t sc_unwind_origin_at(const char *api, void *site, uint32_t label, uintptr_t depth);

/* The same of an interrupted context (ucontext_t), as a signal handler has it, from its program
 * counter on. The call may run on another stack, of which it wants 12 KB. */
uint32_t sc_unwind_from(const void *context, uintptr_t pc);

/* The frames themselves, at most `max` and at least the first; returns how many. */
unsigned sc_unwind_frames(const void *context, uintptr_t pc, void **frames, unsigned max);

/* Is one of the callers, however deep the stack is, such an address? */
bool sc_unwind_meets(const void *context, bool (*is_sought)(uintptr_t address));

/* Where the stack begins on which the calling thread runs: the end of the outermost caller's frame,
 * of those that unwind information leads to. 0: unknown. */
uintptr_t sc_unwind_base(void);

/* The frame on the calling thread's stack in which an address lies. */
struct sc_unwind_owner {
    uintptr_t low, high;   /* what belongs to it: from low up to high; 0: unknown */
    struct sc_local local; /* whose a local there is; maybe the base alone is known */
    uintptr_t pc;          /* where its function goes on */
};

/* Only frames that unwind information leads to are told of, whatever `stacks` says, since memory is
 * kept by them. */
struct sc_unwind_owner sc_unwind_owner_of(uintptr_t address);

#endif
