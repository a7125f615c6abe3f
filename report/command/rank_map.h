/* Keeps which rank each run has, for ranks that are numbers. Consecutive runs with consecutive
 * ranks share one entry, a span. */
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

/* Returns the number that the name of a rank is, or -1. */
long sc_rank_map_number(const char *name);

/* All zero is none. */
struct sc_rank_map {
    struct sc_rank_span *spans; /* by run, in ascending order */
    size_t count, capacity;
};

/* Notes the rank of a run, unless the rank is no number. Pre: the run's number is larger than all
 * in the map. */
void sc_rank_map_add(struct sc_rank_map *map, size_t run, const char *rank);
void sc_rank_map_free(struct sc_rank_map *map);

/* Returns the ranks of these runs (NULL: of all) as a set of numbers, which the caller frees. */
struct sc_run_set sc_rank_map_ranks(const struct sc_rank_map *map, const struct sc_run_set *runs);

/* Returns words such as "0-2, 5" for such a set, with "and more" after 16 spans; NULL: the set is
 * empty. */
const char *sc_rank_map_words(struct sc_scratch *scratch, const struct sc_run_set *ranks);

/* Returns the ranks below the largest one that are not in the set, as a set, which the caller
 * frees. */
struct sc_run_set sc_rank_map_missing(const struct sc_run_set *ranks);

#endif
