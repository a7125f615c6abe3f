/* Reads the Python frames that the calling thread runs in CPython, from the interpreter's
 * memory.
 *
 * A thread's frames do not change while the thread is in our code, with the GIL or without. Nothing
 * of the interpreter's is called and no lock is taken; memory is taken for new code
 * (track/python_codes.h). errno is kept. */
#ifndef SC_INTERPOSE_BASE_PYTHON_WALK_H
#define SC_INTERPOSE_BASE_PYTHON_WALK_H

#include <stdint.h>

struct sc_python_layout;

/* Writes the words of the innermost `frames_max` frames (track/python_codes.h). A NULL follows the
 * frames of each native frame of the evaluation loop, which may have none. `words` has room for
 * twice as many as `frames_max`. Returns how many words were written. `state` is the thread's
 * PyThreadState. Reads with sc_peek alone, so a wrong layout or state does no harm. Signal-safe. */
unsigned sc_python_walk_words(struct sc_python_layout *layout, uintptr_t state, void **words,
                              unsigned frames_max);

/* A number that is the same for the same frames at the same instructions, by which a stack is
 * recognised. Reads memory directly. Pre: the layout's code type is known, and `state` is the
 * calling thread's own. */
uint64_t sc_python_walk_key(const struct sc_python_layout *layout, uintptr_t state,
                            unsigned frames_max);

#endif
