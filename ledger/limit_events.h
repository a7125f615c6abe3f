/* The limits of contexts (CUlimit): which calls set one, and which launch fixed the size of the
 * device's heap, with what is in force behind each.
 *
 * Plain data. Limits are numbers of cuda.h, stacks are ids of track/stacks.h, times
 * CLOCK_MONOTONIC.
 */
#ifndef SC_LEDGER_LIMIT_EVENTS_H
#define SC_LEDGER_LIMIT_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

enum { SC_LIMIT_EVENTS = 48, SC_LIMIT_KERNEL_BYTES = 192 };

enum sc_limit_author { SC_LIMIT_BY_PROGRAM, SC_LIMIT_BY_OPTION, SC_LIMIT_BY_LAUNCH };

struct sc_limit_event {
    const char *api; /* lives for ever */
    const char *runtime_api;
    int32_t thread;
    uint32_t stack;
    uint64_t time_ns;
    enum sc_limit_author by; /* a launch: it fixed the size of the heap */
    int limit, result;
    uint64_t asked, in_force;
    int device;
    uintptr_t context;
    bool context_ended;
    char kernel[SC_LIMIT_KERNEL_BYTES]; /* that was launched; "": not known */
};

struct sc_limit_events {
    struct sc_limit_event events[SC_LIMIT_EVENTS]; /* the first */
    unsigned count;
    uint64_t left_out;
};

/* "CU_LIMIT_MALLOC_HEAP_SIZE", or "unknown". */
const char *sc_limit_events_word(int limit);

#endif
