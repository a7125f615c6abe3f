/* Finds out from /proc what a thread of the process sleeps for, and so whether it waits for the
 * program itself.
 *
 * No lock; signal-safe; errno is kept. Some system calls. Without /proc all threads count as awake.
 */
#ifndef SC_INTERPOSE_BASE_SLEEPING_THREADS_H
#define SC_INTERPOSE_BASE_SLEEPING_THREADS_H

#include <stdint.h>

enum sc_sleep {
    SC_AWAKE,          /* running, asleep with a time limit, or waiting for a disk */
    SC_SLEEPS,         /* without limit, until it is woken; by whom, is not known */
    SC_SLEEPS_FOR_OWN, /* without limit, until a thread of this process wakes it */
};

/* Returns what `thread` sleeps for. SC_SLEEPS_FOR_OWN: it joins a thread; waits for a signal; waits
 * for a mutex or the like that `waiter` holds; or reads, or waits for, what only this process
 * writes: an eventfd, or a pipe or socket whose other end the process has. A sleep with a time
 * limit never counts. */
enum sc_sleep sc_sleeping_threads_check(int32_t thread, int32_t waiter);

#endif
