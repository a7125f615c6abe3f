/* A set of numbers of runs. Runs that follow each other take one entry, a span, so that a set of
 * all ranks of a job takes as much as a set of one. */
#ifndef SC_REPORT_COMMAND_RUN_SET_H
#define SC_REPORT_COMMAND_RUN_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_run_span {
    uint32_t first, last;
};

/* All zero is empty. */
struct sc_run_set {
    struct sc_run_span *spans; /* in ascending order; between two of them a run is missing */
    size_t span_count, capacity;
    size_t count; /* of runs */
};

/* Pre: no number of the set is larger. Out of memory, the number is left out. */
void sc_run_set_add(struct sc_run_set *set, size_t number);

/* Adds a span of runs. Pre: no span of the set begins behind this one. */
void sc_run_set_add_span(struct sc_run_set *set, struct sc_run_span span);

bool sc_run_set_has(const struct sc_run_set *set, size_t number);

/* Adds all runs of `other`. If out of memory, the set stays as it is. */
void sc_run_set_unite(struct sc_run_set *set, const struct sc_run_set *other);

/* Leaves the set empty. */
void sc_run_set_free(struct sc_run_set *set);

#endif
