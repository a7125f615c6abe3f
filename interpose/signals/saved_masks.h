/* Stores, next to signal masks that the C library saves in the program's memory (setjmp,
 * getcontext), whether the program believes SIGSEGV blocked (signal_mask.h).
 *
 * While SIGSEGV is shared (sharing.h), the C library reads and saves a mask without SIGSEGV. The
 * belief is stored in bytes of the sigset_t that neither the C library nor Linux writes.
 *
 * Thread-safe and signal-safe; no lock; errno is kept. */

/* Terms (docs/glossary.md):
 *   belief: whether the program believes SIGSEGV blocked on a thread, whatever mask Linux has
 */
#ifndef SC_INTERPOSE_SIGNALS_SAVED_MASKS_H
#define SC_INTERPOSE_SIGNALS_SAVED_MASKS_H

#include <signal.h>
#include <stdbool.h>

/* Stores next to the mask whether the program believes SIGSEGV blocked. The mask must be a full
 * sigset_t, which the one in a handler's frame is not. */
void sc_saved_masks_note(sigset_t *mask, bool blocked);

/* If the program has set SIGSEGV in the saved mask, removes it there, and stores beside the mask
 * that the program wants it blocked. The mask is a full sigset_t. */
void sc_saved_masks_clear(sigset_t *mask);

/* Does the mask block SIGSEGV, by the stored belief or by itself? */
bool sc_saved_masks_blocks(const sigset_t *mask);

#endif
