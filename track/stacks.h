/* The stack depot: stores every distinct call stack once, and names it by a small id.
 *
 * Every copy calls sc_stacks_put. It is lock-free, and allocates (with mmap, never malloc) only for
 * a stack that is new. Ids are never used again; 0 is no stack. When the bounded depot is full,
 * sc_stacks_put returns 0. Safe on any thread, inside of libc hooks and in a signal handler. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 */

#ifndef SC_TRACK_STACKS_H
#define SC_TRACK_STACKS_H

#include <stdbool.h>
#include <stdint.h>

enum { SC_STACK_DEPTH_MAX = 64 };

/* Returns the id of the stack of `count` return addresses, innermost first; 0: the depot is full. A
 * stack that is longer than SC_STACK_DEPTH_MAX is cut. */
uint32_t sc_stacks_put(void *const *frames, unsigned count);

/* Replaces the return addresses in the interval, in all stored stacks, by `word` + their offset in
 * the interval. Changed stacks keep their ids, and are no longer found by sc_stacks_put. With
 * `word` 0 it changes nothing. Returns whether there are such return addresses. */
bool sc_stacks_replace_frames(uintptr_t start, uintptr_t end, uint64_t word);

/* Returns the number of frames of the stack. *frames points (work issued so far) into the depot,
 * and stays valid for ever. */
unsigned sc_stacks_get(uint32_t id, void *const **frames);

#endif
