/* Events that concern the limits of contexts (CUlimit), as the report and the post-mortem list
 * them: calls that set a limit, launches that fixed the size of the device's malloc heap, and loads
 * of modules that call malloc. Each event has the limit that was in force after it.
 *
 * Plain data. Limits are numbers of cuda.h, stacks ids of track/stacks.h, times CLOCK_MONOTONIC. */

/* Terms (docs/glossary.md):
 *   post-mortem: the report's line that says what was in flight when a context was lost
 */

#ifndef SC_LEDGER_LIMIT_EVENTS_H
#define SC_LEDGER_LIMIT_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/* How many events are kept. The last SC_LIMIT_EVENTS_FOR_LAUNCHES places are for launches alone. */
enum {
    SC_LIMIT_EVENTS = 48,
    SC_LIMIT_EVENTS_FOR_LAUNCHES = 8,
    SC_LIMIT_MODULES = 16,
    SC_LIMIT_KERNEL_BYTES = 192,
};

enum sc_limit_author {
    SC_LIMIT_BY_PROGRAM,
    SC_LIMIT_BY_OPTION,
    SC_LIMIT_BY_LAUNCH, /* a launch, which has fixed the size of the heap */
    SC_LIMIT_BY_MODULE, /* in a post-mortem alone: the load of a module that calls malloc */
};

struct sc_limit_event {
    const char *api; /* lives for ever */
    const char *runtime_api;
    int32_t thread;
    uint32_t stack;
    uint64_t time_ns;
    enum sc_limit_author by;
    int limit, result;
    uint64_t asked, in_force;
    int device;
    uintptr_t context;
    bool context_ended;
    char kernel[SC_LIMIT_KERNEL_BYTES]; /* the kernel that was launched; "": not known */
};

/* A module that was loaded and calls the device's malloc. */
struct sc_limit_module {
    const char *api; /* the call that loaded it; NULL: not known, and neither is its stack */
    const char *runtime_api;
    int32_t thread;
    uint32_t stack;
    uint64_t time_ns;
    uint64_t size_bytes, heap_bytes;
    int device;                         /* -1: not known */
    char caller[SC_LIMIT_KERNEL_BYTES]; /* its first function that calls malloc; "": not known */
};

struct sc_limit_events {
    struct sc_limit_event events[SC_LIMIT_EVENTS]; /* the first, and the last of each limit */
    unsigned count;
    uint64_t left_out;
    struct sc_limit_module modules[SC_LIMIT_MODULES]; /* the first modules */
    unsigned module_count;
    uint64_t modules_left_out;
};

/* Returns the name of the limit, such as "CU_LIMIT_MALLOC_HEAP_SIZE", or "unknown". */
const char *sc_limit_events_word(int limit);

#endif
