/* A call of the program as the event of a hazard: plain data. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 */

#ifndef SC_WORDS_HAZARD_EVENT_H
#define SC_WORDS_HAZARD_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum { SC_THREAD_NAME_SIZE = 16 }; /* Linux's TASK_COMM_LEN; the NUL is counted */

/* The event of a hazard: the call that came too early, such as a free, an unregister, a second
 * operation. */
struct sc_hazard_event {
    const char *api; /* lives for ever */
    int32_t thread;
    char thread_name[SC_THREAD_NAME_SIZE]; /* "": not known */
    uint64_t time_ns;                      /* CLOCK_MONOTONIC */
    uint32_t stack;                        /* an id of track/stacks.h, 0 for none */
    const char *runtime_api; /* the runtime function that made the call; NULL: none, or unknown */
    /* The call has ended only the registration, so nodes that were added while the memory was
     * pageable are valid still. Or it has detached a segment, or unmapped the memory: nodes are
     * valid again once the program maps something at the same place. */
    bool unregistered, detached, unmapped;
};

#endif
