/* Merges a thread's native frames and its Python frames into one stack, innermost first. Pure:
 * thread- and signal-safe, no lock.
 *
 * A native frame of the evaluation loop is replaced by the Python frames that it runs. If no frame
 * is the loop's, all Python frames come before the interpreter's first native frame, or at the end.
 * The innermost native frame always stays. A stack that is too long loses its outermost frames,
 * and, from the 49th on, native frames before the first Python frame. */
#ifndef SC_INTERPOSE_BASE_PYTHON_MERGE_H
#define SC_INTERPOSE_BASE_PYTHON_MERGE_H

#include <stdint.h>

/* A range of addresses of code. */
struct sc_python_range {
    uintptr_t start, end;
};

struct sc_python_merge {
    void *const *natives; /* return addresses */
    unsigned native_count;
    void *const *words; /* Python frames, as sc_python_walk_words gives them */
    unsigned word_count;
    struct sc_python_range loop, object; /* the evaluation loop; the object that has it */
};

/* Writes the merged stack to `frames`, SC_STACK_DEPTH_MAX frames at most. Returns how many. */
unsigned sc_python_merge_stacks(const struct sc_python_merge *merge, void **frames);

#endif
