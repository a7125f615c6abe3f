/* Keeps the `memory` lines of a run, but no more than are shown: if there are more, only every
 * second, fourth, eighth, ... of them. */
#ifndef SC_REPORT_COMMAND_KEPT_MEMORY_H
#define SC_REPORT_COMMAND_KEPT_MEMORY_H

#include <jansson.h>
#include <stddef.h>

/* Counts to thin out a list: how many came so far, and how many are skipped after each one that is
 * kept. All zero at first. */
struct sc_thinned {
    size_t seen, skipped_between;
};

struct sc_kept_memory {
    struct sc_thinned points; /* the parts of lines that a chart needs */
    struct sc_thinned whole;  /* whole lines, of which fewer are kept */
    json_int_t first_ns;      /* the time of the first line */
};

struct sc_memory_between;

/* Takes the line into the record of its run (reader.h). */
void sc_kept_memory_take(struct sc_kept_memory *kept, const struct sc_memory_between *between,
                         json_t *record, json_t *line);

#endif
