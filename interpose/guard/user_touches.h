/* Runs the library's thread that reads touches (reads and writes by the program) of protected pages
 * from userfaultfd, for which threads wait in Linux, and answers them.
 *
 * The thread has its own table of file descriptors, and real-time priority if the process may have
 * that. It calls neither the driver nor malloc. Its waits for a lock that another thread may hold
 * while it touches a page have a limit. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_GUARD_USER_TOUCHES_H
#define SC_INTERPOSE_GUARD_USER_TOUCHES_H

#include <stdbool.h>

/* Opens the userfaultfd and starts the thread, in the first call. To be called before memory is
 * registered with userfaultfd, as from then on a touch of a page that is missing from the page
 * tables waits for an answer. False: there is no userfaultfd to be had. Until the thread runs,
 * mprotect guards pages. Thread-safe, not signal-safe. The caller holds no lock of the library,
 * since the C library creates the thread. */
bool sc_user_touches_begin(void);

#endif
