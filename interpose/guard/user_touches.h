/* The thread that is told of touches of pages that userfaultfd keeps off.
 *
 * It is a thread of its own, with a table of descriptors of its own, and of real-time priority
 * where the process may have that. It calls neither the driver nor malloc, and waits for no lock
 * that a thread may hold over a touch without end.
 */
#ifndef SC_INTERPOSE_GUARD_USER_TOUCHES_H
#define SC_INTERPOSE_GUARD_USER_TOUCHES_H

/* Starts it where there is memory for it to watch, at the first call that finds any. Until it runs
 * pages are mprotect's. Thread safe, not signal safe; no lock of the library's may be held: the C
 * library is asked for a thread. */
void sc_user_touches_start(void);

#endif
