/* The library's thread that learns from userfaultfd that a page which is kept off was touched, and
 * answers the touch.
 *
 * The thread has a table of descriptors of its own, and real-time priority if the process may have
 * that. It calls neither the driver nor malloc, and waits without end for no lock that another
 * thread may hold over a touch. */
#ifndef SC_INTERPOSE_GUARD_USER_TOUCHES_H
#define SC_INTERPOSE_GUARD_USER_TOUCHES_H

#include <stdbool.h>

/* Opens the descriptor and starts the thread, at the first call. To be called before memory is
 * registered with userfaultfd: from then on a touch of a page that the kernel has taken out waits
 * for an answer. False: the system gives no descriptor. Until the thread runs mprotect guards
 * pages. Thread-safe, not signal-safe; the caller holds no lock of the library's, since the C
 * library makes the thread. */
bool sc_user_touches_begin(void);

#endif
