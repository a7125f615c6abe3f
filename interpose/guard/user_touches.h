/* The thread that is told of touches of pages that userfaultfd keeps off.
 *
 * It is a thread of its own, with a table of descriptors of its own, and of real-time priority
 * where the process may have that. It calls neither the driver nor malloc, and waits for no lock
 * that a thread may hold over a touch without end.
 */
#ifndef SC_INTERPOSE_GUARD_USER_TOUCHES_H
#define SC_INTERPOSE_GUARD_USER_TOUCHES_H

#include <stdbool.h>

/* Opens the descriptor and starts the thread, at the first call: before memory is registered, of
 * which the kernel may take pages out at any time, for an advice that no hook sees. A touch of one
 * waits until it is answered. False: the system gives none. Until the thread runs pages are
 * mprotect's. Thread safe, not signal safe; no lock of the library's may be held: the C library is
 * asked for a thread. */
bool sc_user_touches_begin(void);

#endif
