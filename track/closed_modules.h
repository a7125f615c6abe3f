/* Keeps the names of modules (shared objects) that the program has closed by dlclose, so that
 * stacks which were taken before can still be reported.
 *
 * Another module may be loaded at the same addresses later. So the return addresses of stored
 * stacks (track/stacks.h) that lie in a closed module are replaced by words that say which module
 * and which offset; no return address has that form.
 *
 * Lock-free; bounded memory, from mmap; thread- and signal-safe. */
#ifndef SC_TRACK_CLOSED_MODULES_H
#define SC_TRACK_CLOSED_MODULES_H

#include <stdbool.h>
#include <stdint.h>

/* Notes that the module at the addresses from `start` to `end` was closed, and replaces the return
 * addresses of stored stacks that lie there. `path` is copied if any stack has such a return
 * address. */
void sc_closed_modules_note(const char *path, uintptr_t start, uintptr_t end);

/* Decodes a word of a stack: stores the path of the closed module, which stays valid for ever, and
 * the offset within it. Returns false if the word is not of this form. */
bool sc_closed_modules_frame(const void *word, const char **path, uintptr_t *offset);

#endif
