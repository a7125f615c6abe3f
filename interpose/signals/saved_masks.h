/* Masks that the C library saves in the program's memory: a mask without SIGSEGV is what it finds,
 * so whether the thread believes that blocked is noted beside it, where neither the C library nor
 * the kernel writes.
 *
 * Async-signal-safe; errno is kept.
 */
#ifndef SC_INTERPOSE_SIGNALS_SAVED_MASKS_H
#define SC_INTERPOSE_SIGNALS_SAVED_MASKS_H

#include <signal.h>
#include <stdbool.h>

/* Into a mask of the C library's full size; not into that of a handler's frame. */
void sc_saved_masks_note(sigset_t *mask, bool blocked);

/* SIGSEGV leaves the mask, and is noted instead where the mask is of full size. */
void sc_saved_masks_clear(sigset_t *mask);

/* What is noted, or in the mask itself. */
bool sc_saved_masks_blocks(const sigset_t *mask);

#endif
