/* The stack depot: every distinct call stack is stored once and named by a small id.
 *
 * sc_stacks_put is on the path of every copy. It is lock-free, and allocates (with mmap, never
 * malloc) only for a stack not seen before. Ids are never reused; 0 means "no stack". The depot is
 * bounded: when it is full, sc_stacks_put returns 0. Safe from any thread, inside libc hooks and in
 * a signal handler. */
#ifndef SC_TRACK_STACKS_H
#define SC_TRACK_STACKS_H

#include <stdbool.h>
#include <stdint.h>

enum { SC_STACK_DEPTH_MAX = 64 };

/* The id of the stack of `count` return addresses, innermost first. Longer stacks than
 * SC_STACK_DEPTH_MAX are cut. */
uint32_t sc_stacks_put(void *const *frames, unsigned count);

/* Frames in the interval become `word` and their offset there: the stack is not found any more, and
 * keeps its id. `word` 0: is there any such frame? */
bool sc_stacks_replace_frames(uintptr_t start, uintptr_t end, uint64_t word);

/* The number of frames of the stack; *frames points into the depot and stays valid for ever. */
unsigned sc_stacks_get(uint32_t id, void *const **frames);

#endif
