/* The stack depot: every distinct call stack is stored once and named by a small id.
 *
 * sc_stacks_put is on the path of every copy, so it is lock-free, and it allocates (with mmap,
 * never malloc) only for a stack not seen before. Ids are never reused; 0 means "no stack". The
 * depot is bounded: when it is full, put returns 0. Safe from any thread and inside libc hooks;
 * safe in a signal handler as well, since it takes no lock.
 */
#ifndef SC_TRACK_STACKS_H
#define SC_TRACK_STACKS_H

#include <stdint.h>

enum { SC_STACK_DEPTH_MAX = 64 };

/* Id of the stack of `count` return addresses, innermost first; longer stacks are cut. */
uint32_t sc_stacks_put(void *const *frames, unsigned count);

/* Number of frames of `id`; *frames points into the depot and stays valid for ever. */
unsigned sc_stacks_get(uint32_t id, void *const **frames);

#endif
