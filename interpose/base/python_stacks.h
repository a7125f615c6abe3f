/* Python frames (track/python_codes.h) in the stacks of the threads that run them, at their places
 * (python_merge.h).
 *
 * In a process without an interpreter of CPython, and with python=0, a stack costs one load more.
 * The interpreter is looked for when CUDA is first used, and when objects were loaded or closed
 * since. errno is kept.
 */
#ifndef SC_INTERPOSE_BASE_PYTHON_STACKS_H
#define SC_INTERPOSE_BASE_PYTHON_STACKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "interpose/base/compiler.h"

struct sc_python_interpreter;
extern _Atomic(struct sc_python_interpreter *) sc_python_stacks_interpreter;

/* Says that Python frames are wanted, and how many of them at most. Before the first stack. */
void sc_python_stacks_start(unsigned frames_max);

/* So many objects have been loaded and closed so far. Takes the loader's lock where one of the
 * numbers is new. */
void sc_python_stacks_note_objects(uint64_t loaded, uint64_t closed);

/* Around what may close the interpreter, whose code a thread in sc_python_stacks_insert would call
 * when it is gone: meanwhile stacks have no Python frames. The second takes the loader's lock. */
void sc_python_stacks_note_closing(void);
void sc_python_stacks_note_closed(void);

/* Id of the stack `id` (track/stacks.h) of the calling thread, with its Python frames. */
uint32_t sc_python_stacks_insert(uint32_t id);

/* The same in a handler of a fault, which has room and must not fault again. Async-signal-safe. */
uint32_t sc_python_stacks_insert_carefully(uint32_t id);

/* Is there an interpreter? */
static inline bool sc_python_stacks_run(void)
{
    return sc_unlikely(atomic_load_explicit(&sc_python_stacks_interpreter, memory_order_relaxed) !=
                       0);
}

static inline uint32_t sc_python_stacks_complete(uint32_t id)
{
    return sc_python_stacks_run() ? sc_python_stacks_insert(id) : id;
}

#endif
