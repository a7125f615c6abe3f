/* Keeps the ranks that a launcher (torchrun, mpirun, srun) gave to the runs.
 *
 * A rank may have several runs, on one host or on several. The name of a rank may be any text. */
#ifndef SC_REPORT_COMMAND_RANK_NAMES_H
#define SC_REPORT_COMMAND_RANK_NAMES_H

#include "report/command/reader.h"
#include "report/command/scratch.h"

#include <stdbool.h>
#include <stddef.h>

struct sc_rank_names {
    char **names;     /* by run; NULL: it has none */
    size_t *in_order; /* the runs that have a rank, sorted by number and then by name */
    size_t count;     /* how many these are */
};

/* Makes the list from the runs of the reader. Returns false if there is no memory. */
bool sc_rank_names_make(struct sc_rank_names *ranks, const struct sc_reader *reader);
void sc_rank_names_free(struct sc_rank_names *ranks);

/* Returns true if the runs have at least two different ranks. */
bool sc_rank_names_are_several(const struct sc_rank_names *ranks);

/* Returns words such as "rank 3" or "ranks 0-2, 5" for the ranks of the runs that `is_in` selects;
 * NULL: none of them has a rank. */
typedef bool sc_rank_names_is_in(const void *context, size_t run);
const char *sc_rank_names_words(const struct sc_rank_names *ranks, struct sc_scratch *scratch,
                                sc_rank_names_is_in *is_in, const void *context);

/* Returns words for the ranks below the largest one that no run has; NULL: there are none, or a
 * rank is no number. */
const char *sc_rank_names_missing(const struct sc_rank_names *ranks, struct sc_scratch *scratch);

#endif
