/* The frames of CPython's that the calling thread runs in.
 *
 * A thread's frames do not change while it is in our code, with the GIL or without. Nothing of the
 * interpreter is called and no lock is taken; memory is taken for code that is new
 * (track/python_codes.h). errno is kept.
 */
#ifndef SC_INTERPOSE_BASE_PYTHON_WALK_H
#define SC_INTERPOSE_BASE_PYTHON_WALK_H

#include <stdint.h>

struct sc_python_layout;

/* The words of the innermost `frames_max` frames, of which a NULL follows those that one native
 * frame of the evaluation loop runs; such a loop may have none. `words` has room for twice as many;
 * returns how many there are. `state` is the thread's (PyThreadState). Reads with sc_peek alone:
 * whatever the layout and the state are, the program lives on. Signal-safe. */
unsigned sc_python_walk_words(struct sc_python_layout *layout, uintptr_t state, void **words,
                              unsigned frames_max);

/* A number by which to know the same frames at the same instructions again. Reads memory directly:
 * the layout's code type is known, and `state` is the calling thread's own. */
uint64_t sc_python_walk_key(const struct sc_python_layout *layout, uintptr_t state,
                            unsigned frames_max);

#endif
