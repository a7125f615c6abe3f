/* Asks the kernel what a thread of the process sleeps for, to find out whether it waits for the
 * program itself.
 *
 * No lock; signal safe; errno is kept. Some system calls. Without /proc all threads count as
 * awake. */
#ifndef SC_INTERPOSE_BASE_SLEEPING_THREADS_H
#define SC_INTERPOSE_BASE_SLEEPING_THREADS_H

#include <stdint.h>

enum sc_sleep {
    SC_AWAKE,          /* at work, asleep with a time limit, or waiting for a disk */
    SC_SLEEPS,         /* without limit, until somebody wakes it; who, is not known */
    SC_SLEEPS_FOR_OWN, /* without limit, until a thread of this process wakes it */
};

/* What does `thread` sleep for? SC_SLEEPS_FOR_OWN holds where it joins a thread; where it waits for
 * a signal; where it waits in a mutex or the like that `waiter` holds; and where it reads, or waits
 * for, what only this process writes: an eventfd, or a pipe or socket whose other end the process
 * has. A sleep with a time limit never counts. */
enum sc_sleep sc_sleeping_threads_check(int32_t thread, int32_t waiter);

#endif
