/* Writes the `postmortem` line: what a process had in flight and had done last when it learnt that
 * a context is lost. A report has at most one such line.
 *
 * Plain data; the lists are the caller's. Times are CLOCK_MONOTONIC nanoseconds, and stacks are ids
 * of track/stacks.h. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   in flight: issued, and the host does not know yet that it is done
 *   ledger: which memory the process has, and which call stack asked for it
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   post-mortem: the report's line that says what was in flight when a context was lost
 */

#ifndef SC_REPORT_POSTMORTEM_LINE_H
#define SC_REPORT_POSTMORTEM_LINE_H

#include "common/hazard_event.h"
#include "track/history.h"

#include <stdbool.h>
#include <stdint.h>

struct sc_limit_event;
struct sc_text;

/* One of the last operations of a stream, or of the last frees, before a context was lost. */
struct sc_postmortem_operation {
    struct sc_history_entry is; /* what was issued, with the id of its stack */
    uint64_t time_ns;
    bool in_flight; /* the host has not learnt that it is done */
};

/* A stream with its last operations before a context was lost. */
struct sc_postmortem_stream {
    uintptr_t handle; /* as the program knows it */
    int device;
    const struct sc_postmortem_operation *operations; /* the latest first */
    unsigned count;
};

/* What a process knows when a call first returns an error that loses the context: that call, what
 * each stream did last, and what was freed. */
struct sc_postmortem {
    int error; /* the driver's error number; 0: the program aborts */
    const char *name;
    struct sc_hazard_event call;                /* the call that first returned the error */
    const struct sc_postmortem_stream *streams; /* by their latest operation, the latest first */
    unsigned stream_count;
    const struct sc_postmortem_operation *frees; /* the latest first */
    unsigned free_count;
    /* After an illegal address: the launch that fixed the size of the device's heap, whose kernel
     * calls malloc (ledger/limit_events.h). NULL: none is known. It lives for ever. */
    const struct sc_limit_event *heap_user;
};

/* The most important parts of a struct sc_postmortem, for the summary on stderr. */
struct sc_postmortem_brief {
    int error;
    const char *name; /* NULL: there is no post-mortem */
    struct sc_hazard_event call;
    unsigned in_flight, streams, frees;
    const struct sc_limit_event *heap_user;
    struct sc_postmortem_operation operation, freed; /* the latest in flight, the latest free */
};

/* Returns what the summary on stderr says of a lost context. */
struct sc_postmortem_brief sc_postmortem_line_in_brief(const struct sc_postmortem *postmortem);

/* Writes the `postmortem` line, with its newline. What does not fit is left out from the end:
 * stacks first, then operations. `hazards` and `by_code`: counts of the hazards that were found
 * before. Locks: takes the loader's lock. One caller at a time. */
void sc_postmortem_line_write(struct sc_text *line, const struct sc_postmortem *postmortem,
                              uint64_t hazards, const uint64_t *by_code);

#endif
