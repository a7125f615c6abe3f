/* How the memory that a run held changed over time, from its `memory` lines (kept_memory.h). */
#ifndef SC_REPORT_COMMAND_MEMORY_HISTORY_H
#define SC_REPORT_COMMAND_MEMORY_HISTORY_H

#include "report/command/scratch.h"
#include "report/command/shown_memory.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_model;
struct sc_run;

enum { SC_MEMORY_FIRST_LINE, SC_MEMORY_MIDDLE_LINE, SC_MEMORY_LAST_LINE, SC_MEMORY_LINES_SHOWN };

/* Stores the run's first, middle and last `memory` line; the middle one may be the first. If
 * --between names two lines: the first of them twice, and the second. Returns false if there are
 * not two. */
bool sc_memory_history_lines(struct sc_model *model, const struct sc_run *run,
                             struct sc_memory moments[SC_MEMORY_LINES_SHOWN]);

/* What a place (a device or the host) of a run held at one moment. */
struct sc_memory_moment {
    json_int_t time_ns;
    uint64_t bytes;
    bool knows_used, knows_unaccounted; /* these are known, of a device */
    uint64_t used_bytes;                /* of the whole device, whoever uses it */
    uint64_t unaccounted_bytes;
};

/* Returns the moments at which the memory of the place was noted, in the order of time, with its
 * peak and the end among them. */
struct sc_memory_moment *sc_memory_history_of(struct sc_scratch *scratch, const struct sc_run *run,
                                              const struct sc_memory *memory,
                                              const struct sc_memory_place *place, size_t *count);

#endif
