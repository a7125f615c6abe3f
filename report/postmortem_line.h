/* What a process did before it learnt that its context is lost, and the line of the report that
 * says so. There is one such line in a report at most.
 *
 * Plain data; the lists are the caller's. Times are CLOCK_MONOTONIC nanoseconds, and stacks are ids
 * of track/stacks.h.
 */
#ifndef SC_REPORT_POSTMORTEM_LINE_H
#define SC_REPORT_POSTMORTEM_LINE_H

#include "common/hazard_event.h"
#include "track/history.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_limit_event;
struct sc_text;

struct sc_postmortem_operation {
    struct sc_history_entry is; /* has its stack */
    uint64_t time_ns;
    bool in_flight; /* the host has not learnt of its end */
};

struct sc_postmortem_stream {
    uintptr_t handle; /* the program's */
    int device;
    const struct sc_postmortem_operation *operations; /* the latest first */
    unsigned count;
};

struct sc_postmortem {
    int error; /* the driver's number; 0: the program aborts */
    const char *name;
    struct sc_hazard_event call;                /* that first returned it */
    const struct sc_postmortem_stream *streams; /* the one with the latest operation first */
    unsigned stream_count;
    const struct sc_postmortem_operation *frees; /* the latest first */
    unsigned free_count;
    /* For an illegal address, the launch that took the device's heap (ledger/limit_events.h). NULL:
     * none is known. It lives for ever. */
    const struct sc_limit_event *heap_user;
};

/* For the summary on stderr: the same in brief. */
struct sc_postmortem_brief {
    int error;
    const char *name; /* NULL: there is no post-mortem */
    struct sc_hazard_event call;
    unsigned in_flight, streams, frees;
    const struct sc_limit_event *heap_user;
    struct sc_postmortem_operation operation, freed; /* the latest in flight; of the frees */
};

struct sc_postmortem_brief sc_postmortem_line_in_brief(const struct sc_postmortem *postmortem);

/* Writes the line, with its newline. What leaves no room is left out, from the end: stacks, then
 * operations. `hazards` and `by_code`: what was found before. Locks: takes the loader's lock. One
 * caller at a time. */
void sc_postmortem_line_write(struct sc_text *line, const struct sc_postmortem *postmortem,
                              uint64_t hazards, const uint64_t *by_code);

#endif
