/* Finds robust mutexes that are locked already when their memory is registered with the driver, and
 * exempts their pages from protection: they are never protected while a copy uses them
 * (exempt_objects.h).
 *
 * When the owner of such a mutex ends, Linux marks the mutex, without a system call that a hook
 * could see. Linux finds it by a list that each thread has. These lists are walked when memory is
 * registered (sc_guard_pin), in processes that have ever made a robust mutex. That takes opening a
 * file, and a system call for each thread and each locked mutex.
 *
 * Not found: a mutex that another process initialised, if this process never made one; a mutex that
 * is locked during the registration.
 *
 * Thread-safe; errno is kept; no cancellation point. Locks: those of exempt_objects.h. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 */

#ifndef SC_INTERPOSE_SYSTEM_CALLS_ROBUST_MUTEXES_H
#define SC_INTERPOSE_SYSTEM_CALLS_ROBUST_MUTEXES_H

/* Records that the process is about to make a robust mutex. One store; signal-safe. */
void sc_robust_mutexes_note_one_made(void);

#endif
