/* What a thread of the process sleeps for, as the kernel shows it.
 *
 * No lock; signal safe; errno is kept. Some system calls. Where /proc is not there, all are awake.
 */
#ifndef SC_INTERPOSE_BASE_SLEEPING_THREADS_H
#define SC_INTERPOSE_BASE_SLEEPING_THREADS_H

#include <stdint.h>

enum sc_sleep {
    SC_AWAKE,          /* at work, asleep for a time, or waiting for a disk */
    SC_SLEEPS,         /* until somebody ends that: who, is not known */
    SC_SLEEPS_FOR_OWN, /* until a thread of this process ends that, however long it takes */
};

/* For threads of this process it sleeps where it joins one; where it reads what only they write, an
 * eventfd, a pipe or a pair of sockets of which the process has the other end, or waits for one of
 * these; where it waits for a signal; and in a mutex or the like that `waiter` holds. With a time
 * limit it does not. */
enum sc_sleep sc_sleeping_threads_look(int32_t thread, int32_t waiter);

#endif
