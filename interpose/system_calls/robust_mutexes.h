/* Robust mutexes that are locked already when their memory is registered.
 *
 * The kernel marks such a mutex when its owner ends, without a call that a hook could see. It finds
 * it by a list that each thread has. These lists are walked when memory is registered
 * (sc_guard_range_begins), in processes that ever asked for a robust mutex: a file is opened, and
 * there is a system call for each thread and for each mutex that is locked. What lies in a range is
 * guarded no more (keep_off.h).
 *
 * Not found: a mutex that another process initialised, if this one made none; one that is locked in
 * the moment of the registration.
 *
 * Thread safe; errno is kept; no cancellation point. Locks: those of keep_off.h.
 */
#ifndef SC_INTERPOSE_SYSTEM_CALLS_ROBUST_MUTEXES_H
#define SC_INTERPOSE_SYSTEM_CALLS_ROBUST_MUTEXES_H

/* The process is about to make one. One store; signal safe. */
void sc_robust_mutexes_note(void);

#endif
