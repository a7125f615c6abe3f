/* Masks that the C library saves in the program's memory.
 *
 * The C library finds a mask without SIGSEGV. So whether the thread believes SIGSEGV blocked is
 * noted beside that mask, where neither the C library nor the kernel writes.
 *
 * Thread safe and signal safe; no lock; errno is kept.
 */
#ifndef SC_INTERPOSE_SIGNALS_SAVED_MASKS_H
#define SC_INTERPOSE_SIGNALS_SAVED_MASKS_H

#include <signal.h>
#include <stdbool.h>

/* Notes it with a mask of the C library's full size. A handler's frame has a smaller one. */
void sc_saved_masks_note(sigset_t *mask, bool blocked);

/* Takes SIGSEGV out of the mask, and notes it instead where the mask is of full size. */
void sc_saved_masks_clear(sigset_t *mask);

/* Is SIGSEGV noted as blocked, or in the mask itself? */
bool sc_saved_masks_blocks(const sigset_t *mask);

#endif
