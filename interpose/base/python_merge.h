/* One stack of a thread's native frames and its Python frames, innermost first. Pure: thread- and
 * signal-safe, no lock.
 *
 * The Python frames that a native frame of the evaluation loop runs stand in its place. Where no
 * frame is the loop's, all Python frames stand before the interpreter's first one, or at the end.
 * The innermost native frame stays. A stack that is cut lacks its outermost frames, and native ones
 * before the first Python frame from the 49th on.
 */
#ifndef SC_INTERPOSE_BASE_PYTHON_MERGE_H
#define SC_INTERPOSE_BASE_PYTHON_MERGE_H

#include <stdint.h>

/* Addresses of code. */
struct sc_python_range {
    uintptr_t start, end;
};

struct sc_python_merge {
    void *const *natives; /* return addresses */
    unsigned native_count;
    void *const *words; /* as sc_python_walk_words gives them */
    unsigned word_count;
    struct sc_python_range loop, object; /* the evaluation loop, and the object that it is in */
};

/* Writes SC_STACK_DEPTH_MAX frames at most. Returns how many. */
unsigned sc_python_merge_stacks(const struct sc_python_merge *merge, void **frames);

#endif
