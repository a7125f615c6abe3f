/* Notes beside signal masks that the C library saves in the program's memory (setjmp, getcontext)
 * whether the program believes SIGSEGV blocked.
 *
 * While SIGSEGV is shared the C library finds and saves a mask without SIGSEGV. So a note beside
 * the saved mask says whether the thread believes SIGSEGV blocked. Neither the C library nor the
 * kernel writes where the note is.
 *
 * Thread safe and signal safe; no lock; errno is kept. */
#ifndef SC_INTERPOSE_SIGNALS_SAVED_MASKS_H
#define SC_INTERPOSE_SIGNALS_SAVED_MASKS_H

#include <signal.h>
#include <stdbool.h>

/* Notes beside the mask whether the program believes SIGSEGV blocked. The mask must have the C
 * library's full size, which the one in a handler's frame has not. */
void sc_saved_masks_note(sigset_t *mask, bool blocked);

/* If the mask has SIGSEGV, takes it out and notes it instead. The mask has full size. */
void sc_saved_masks_clear(sigset_t *mask);

/* Does the mask block SIGSEGV, by the note or by itself? */
bool sc_saved_masks_blocks(const sigset_t *mask);

#endif
