/* Takes call stacks with libunwind.
 *
 * libunwind is loaded at run time, from the folder of this library or else from the system, so that
 * no program fails to start for want of it. Without it, stacks are one frame deep. sc_unwind_here
 * neither allocates with malloc nor takes a lock that the driver could hold.
 *
 * A program copies from the same few places over and over. So a stack that was seen before, from
 * the same call site and at the same stack depth, is recognised by its return addresses. That costs
 * a load for each frame instead of an unwinding step (stack_cache.h). */

/* Terms (docs/glossary.md):
 *   held: of memory: freed by the program, and kept by the library until the device is done
 *   hook: our function in the place of one of the C library's
 *   label: what the program calls what it does: a test, a request, a step
 *   origin: the call that made a buffer or a stream, with its stack
 *   site: the address to which a hook or wrapper returns: the program's call
 *   wrapper: our function in the place of one of the driver's
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

/* Loads libunwind. To be called before the first stack is taken. Prints on stderr (depending on
 * verbosity) what could not be loaded. Several threads may call it at once, with the same result.
 * Takes the loader's lock, and holds none of the library's meanwhile. */
void sc_unwind_start(const struct sc_options *options);

/* Called after a call that may close a module (dlclose): stacks through its code are no longer
 * recognised, and a Python interpreter is searched for again. Takes the loader's lock. */
void sc_unwind_note_closed(void);

/* Are stacks taken in full (stacks=full), and does the library's dlclose see modules that are
 * closed, so that recognised stacks are right? */
extern _Atomic bool sc_unwind_is_plain;

/* Is a recognised stack complete? Not if Python frames must be added. */
static inline bool sc_unwind_is_whole(void)
{
    return atomic_load_explicit(&sc_unwind_is_plain, memory_order_relaxed) &&
           !sc_python_stacks_run();
}

/* Records that the library was loaded by the driver, and not preloaded. Its hook of dlclose is not
 * called then, so modules are closed unseen, and no stack may be recognised without a look at the
 * loader's counts. */
void sc_unwind_note_alone(void);

/* Are stacks more than one frame deep? That takes libunwind, and the option stacks=full. */
bool sc_unwind_is_deep(void);

/* Returns the id of the caller's stack (track/stacks.h). `site`: the address to which the hook
 * returns; frames inside the hook are left out. errno is kept. */
uint32_t sc_unwind_here(void *site);

/* Returns the stack of this call if it was found before with the same callers, for the calls that
 * programs make most. NULL: it is not recognised; the caller then calls sc_unwind_at with the same
 * arguments. `depth`: an address in the caller's frame, or in that of one of its callers within
 * `site`, the same for every call by the same callers. */
SC_INLINED struct sc_stack_known *sc_unwind_known(const void *site, uintptr_t depth)
{
    return sc_likely(sc_unwind_is_whole()) ? sc_stack_cache_recognise(site, depth) : NULL;
}

/* Returns the id of the current stack, whose innermost frame is the program's call, which returns
 * to `site`. `depth`: an address in the caller's frame (sc_unwind_known). */
uint32_t sc_unwind_at(void *site, uintptr_t depth);

/* Returns the id of an origin, by which reports name where memory came from (track/origins.h): the
 * call `api`, its stack as sc_unwind_at finds it, and the label, the program's own word for what it
 * does. For wrappers of the driver only. */
uint32_t sc_unwind_origin_at(const char *api, void *site, uint32_t label, uintptr_t depth);

/* Returns the id of the stack of an interrupted context (ucontext_t), as a signal handler has it;
 * `pc`: its program counter. May be called on another stack, and needs 12 KB of that. */
uint32_t sc_unwind_from(const void *context, uintptr_t pc);

/* Writes the frames of an interrupted context (sc_unwind_from), `max` at most and at least the
 * first. Returns how many. */
unsigned sc_unwind_frames(const void *context, uintptr_t pc, void **frames, unsigned max);

/* Does `is_sought` hold for the return address of any caller of an interrupted context
 * (ucontext_t), however deep the stack is? */
bool sc_unwind_any_caller(const void *context, bool (*is_sought)(uintptr_t address));

/* Returns where the stack begins on which the calling thread runs: the end of the outermost frame
 * that unwind information leads to. It tells one of a thread's stacks from another (coroutines). 0:
 * unknown. */
uintptr_t sc_unwind_base(void);

/* The frame on the calling thread's stack in which an address lies. */
struct sc_unwind_owner {
    uintptr_t low, high;   /* the frame's part of the stack, [low, high); 0: unknown */
    struct sc_local local; /* the function that has a local there; maybe only its `base` */
    uintptr_t pc;          /* the address at which the frame's function continues */
};

/* Finds the frame in which the address lies, whatever the value of the option `stacks`. Frames
 * without unwind information are not found: memory is held back by the result, so it must be right.
 */
struct sc_unwind_owner sc_unwind_owner_of(uintptr_t address);

#endif
