/* Finds robust mutexes that are locked already when their memory is registered, so that their pages
 * are never guarded.
 *
 * When the owner of such a mutex ends, the kernel marks the mutex, without a call that a hook could
 * see. The kernel finds it by a list that each thread has. These lists are walked when memory is
 * registered (sc_guard_pin), in processes that ever asked for a robust mutex. That takes opening a
 * file, and a system call for each thread and each locked mutex. Mutexes in a range are kept off
 * (exempt_objects.h).
 *
 * Not found: a mutex that another process initialised, if this process never asked for one; a mutex
 * that is locked in the moment of the registration.
 *
 * Thread safe; errno is kept; no cancellation point. Locks: those of exempt_objects.h. */
#ifndef SC_INTERPOSE_SYSTEM_CALLS_ROBUST_MUTEXES_H
#define SC_INTERPOSE_SYSTEM_CALLS_ROBUST_MUTEXES_H

/* Notes that the process is about to make a robust mutex. One store; signal safe. */
void sc_robust_mutexes_note_one_made(void);

#endif
