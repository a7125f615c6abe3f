/* A set of numbers of runs. Consecutive numbers take one entry, a span, so a set of all ranks of a
 * job takes as little memory as a set of one. */
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
    struct sc_run_span *spans; /* in ascending order, with a gap between each two */
    size_t span_count, capacity;
    size_t count; /* of runs */
};

/* Adds a number. Pre: it is larger than all in the set. Without memory it is left out. */
void sc_run_set_add(struct sc_run_set *set, size_t number);

/* Adds a span. Pre: no span of the set begins after it. */
void sc_run_set_add_span(struct sc_run_set *set, struct sc_run_span span);

bool sc_run_set_has(const struct sc_run_set *set, size_t number);

/* Adds all numbers of `other`. Without memory the set stays as it is. */
void sc_run_set_unite(struct sc_run_set *set, const struct sc_run_set *other);

/* Frees the memory, and leaves the set empty. */
void sc_run_set_free(struct sc_run_set *set);

#endif
