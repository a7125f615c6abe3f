/* Reads the Python frames of the calling thread from the memory of CPython.
 *
 * A thread's frames do not change while the thread runs the library's code, with the GIL or
 * without. No function of the interpreter is called and no lock is taken; memory is allocated for
 * new code objects (track/python_codes.h). errno is kept. */

/* Terms (docs/glossary.md):
 *   code object: CPython's record of a compiled function
 */

#ifndef SC_INTERPOSE_BASE_PYTHON_WALK_H
#define SC_INTERPOSE_BASE_PYTHON_WALK_H

#include <stdint.h>

struct sc_python_layout;

/* Writes the words of the innermost `frames_max` Python frames (track/python_codes.h). A NULL
 * follows the Python frames of each native frame of the evaluation loop, even if that has none.
 * `words` has room for twice as many as `frames_max`. Returns how many words were written. `state`
 * is the thread's PyThreadState. Reads with sc_peek alone, so a wrong layout or state does no harm.
 * Signal-safe. */
unsigned sc_python_walk_words(struct sc_python_layout *layout, uintptr_t state, void **words,
                              unsigned frames_max);

/* Returns a number that is the same for the same frames at the same instructions, by which a
 * thread's Python stack is recognised. Reads the interpreter's memory by plain loads. Pre: the
 * layout has proved right (its code_type is set), and `state` is the calling thread's
 * PyThreadState. */
uint64_t sc_python_walk_key(const struct sc_python_layout *layout, uintptr_t state,
                            unsigned frames_max);

#endif
