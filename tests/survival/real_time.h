/* Threads of a real-time policy, and one processor for all of them. */
#ifndef SC_TESTS_SURVIVAL_REAL_TIME_H
#define SC_TESTS_SURVIVAL_REAL_TIME_H

#include "survival.h"

#include <pthread.h>
#include <sched.h>

/* Priorities. */
enum { LOWER = 10, HIGHER = 20 };

static SURVIVAL_HELPER void become_real_time(int priority)
{
    struct sched_param parameters = {.sched_priority = priority};
    CHECK(pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters));
}

/* Of those that the process may use. For the calling thread, and those that it makes. */
static SURVIVAL_HELPER void use_one_processor(void)
{
    cpu_set_t all, one;
    CHECK(sched_getaffinity(0, sizeof all, &all));
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one));
}

#endif
