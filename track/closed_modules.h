/* Modules that were closed (dlclose): their names, for frames of stacks that were taken before.
 *
 * Another module may lie at their addresses by now. So the frames of stacks (track/stacks.h) become
 * words in a form that no return address has: which module, and where in it. New stacks with the
 * same addresses are others.
 *
 * Lock-free; bounded memory, from mmap; thread- and signal-safe. */
#ifndef SC_TRACK_CLOSED_MODULES_H
#define SC_TRACK_CLOSED_MODULES_H

#include <stdbool.h>
#include <stdint.h>

/* The module at these addresses was closed. `path` is copied, if any stack leads through it. */
void sc_closed_modules_note(const char *path, uintptr_t start, uintptr_t end);

/* Stores what the word of a frame says. The path stays for ever. False: it is no such word. */
bool sc_closed_modules_frame(const void *word, const char **path, uintptr_t *offset);

#endif
