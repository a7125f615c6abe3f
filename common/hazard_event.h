/* A call of the program that hazards tell of: plain data. */
#ifndef SC_WORDS_HAZARD_EVENT_H
#define SC_WORDS_HAZARD_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum { SC_THREAD_NAME_SIZE = 16 }; /* the kernel's TASK_COMM_LEN; the NUL is counted */

/* The call that came too early: a free, an unregister, a second operation. */
struct sc_hazard_event {
    const char *api; /* lives for ever */
    int32_t thread;
    char thread_name[SC_THREAD_NAME_SIZE]; /* "": not known */
    uint64_t time_ns;                      /* CLOCK_MONOTONIC */
    uint32_t stack;                        /* an id of track/stacks.h, 0 for none */
    const char *runtime_api; /* the runtime function that made the call; NULL: none, or unknown */
    bool unregistered;       /* it took the registration away, and not the memory, or detached a
                              * segment: what comes to the same place mends it */
};

#endif
