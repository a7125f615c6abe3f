/* Whether SIGSEGV is shared with the program, and whose process this is. Lock-free;
 * async-signal-safe. */
#ifndef SC_INTERPOSE_SIGNALS_SHARING_H
#define SC_INTERPOSE_SIGNALS_SHARING_H

#include <stdbool.h>

/* The process starts. Where the program does not reach our functions, since the library was not
 * preloaded, nothing is shared in any case. */
void sc_sharing_begin(bool wanted);

/* Constant once the process has begun. */
bool sc_sharing_is_on(void);

/* In a forked child, which is another process with signals of its own. */
void sc_sharing_child(void);

/* Does the calling thread belong to a child that shares its parent's memory, and so must not leave
 * there what concerns its own signals? A system call. */
bool sc_sharing_is_vfork_child(void);

#endif
