/* Whether SIGSEGV is shared with the program, and whose process this is. Thread safe and signal
 * safe; lock-free. */
#ifndef SC_INTERPOSE_SIGNALS_SHARING_H
#define SC_INTERPOSE_SIGNALS_SHARING_H

#include <stdbool.h>

/* The process starts. Where the library was not preloaded, the program does not reach its hooks,
 * and nothing is shared in any case. */
void sc_sharing_begin(bool wanted);

/* Is SIGSEGV shared? Constant once the process has begun. */
bool sc_sharing_is_on(void);

/* In a forked child, which has signals of its own. */
void sc_sharing_child(void);

/* Does the calling thread belong to a child that shares its parent's memory (vfork)? The child must
 * not leave there what concerns its own signals. A system call. */
bool sc_sharing_is_vfork_child(void);

#endif
