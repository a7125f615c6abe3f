/* Inserts Python frames (track/python_codes.h) into the stacks of the threads that run them
 * (python_merge.h).
 *
 * In a process without a CPython interpreter, and with python=0, a stack costs one more load. The
 * interpreter is searched for when CUDA is first used, and again when objects have been loaded or
 * closed. errno is kept. */
#ifndef SC_INTERPOSE_BASE_PYTHON_STACKS_H
#define SC_INTERPOSE_BASE_PYTHON_STACKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "interpose/base/compiler.h"

struct sc_python_interpreter;
extern _Atomic(struct sc_python_interpreter *) sc_python_stacks_interpreter;

/* Turns Python frames in stacks on, at most `frames_max` in each. To be called before the first
 * stack is taken. */
void sc_python_stacks_start(unsigned frames_max);

/* Records how many objects (libraries) the process has loaded and closed, as the loader counts
 * them, before a stack is unwound. Searches for the interpreter if it may have been loaded or
 * closed since; takes the loader's lock then. */
void sc_python_stacks_note_objects(uint64_t loaded, uint64_t closed);

/* Called before and after a dlclose that may close the interpreter, since a thread in
 * sc_python_stacks_insert could call code that is gone. In between stacks get no Python frames. The
 * second function takes the loader's lock. */
void sc_python_stacks_note_closing(void);
void sc_python_stacks_note_closed(void);

/* Returns the id of the calling thread's stack `id` (track/stacks.h) with its Python frames. */
uint32_t sc_python_stacks_insert(uint32_t id);

/* Returns the id of the calling thread's stack `id` with its Python frames, in the handler of a
 * fault: memory is read so that no other fault can happen, and the stack has room.
 * Async-signal-safe. */
uint32_t sc_python_stacks_insert_carefully(uint32_t id);

/* Is an interpreter loaded? */
static inline bool sc_python_stacks_run(void)
{
    return sc_unlikely(atomic_load_explicit(&sc_python_stacks_interpreter, memory_order_relaxed) !=
                       0);
}

/* sc_python_stacks_insert if an interpreter is loaded; else the same id. */
static inline uint32_t sc_python_stacks_complete(uint32_t id)
{
    return sc_python_stacks_run() ? sc_python_stacks_insert(id) : id;
}

#endif
