/* Keeps which rank each run has, if ranks are numbers. Runs that follow each other and have ranks
 * that do so too take one entry, a span. */
#ifndef SC_REPORT_COMMAND_RANK_MAP_H
#define SC_REPORT_COMMAND_RANK_MAP_H

#include "report/command/run_set.h"
#include "report/command/scratch.h"

#include <stddef.h>
#include <stdint.h>

struct sc_rank_span {
    uint32_t run, count;
    uint32_t rank; /* of the first run */
};

/* The rank that a name is, or -1. */
long sc_rank_map_number(const char *name);

/* All zero is none. */
struct sc_rank_map {
    struct sc_rank_span *spans; /* by run, in ascending order */
    size_t count, capacity;
};

/* Notes the rank of a run. A rank that is no number is not noted. Pre: no run of the map is
 * larger. */
void sc_rank_map_add(struct sc_rank_map *map, size_t run, const char *rank);
void sc_rank_map_free(struct sc_rank_map *map);

/* The ranks of these runs (NULL: of all) as a set of numbers, which the caller frees. */
struct sc_run_set sc_rank_map_ranks(const struct sc_rank_map *map, const struct sc_run_set *runs);

/* "0-2, 5" of such a set, and "and more" behind 16 spans; NULL: it is empty. */
const char *sc_rank_map_words(struct sc_scratch *scratch, const struct sc_run_set *ranks);

/* The ranks below the largest one that are not in the set, as a set, which the caller frees. */
struct sc_run_set sc_rank_map_missing(const struct sc_run_set *ranks);

#endif
