/* Compares the memory of processes that run the same program: what each holds, and which stand out.
 *
 * A process stands out if it is further from the one in the middle than six times what half of them
 * are, and than 16 MB and a hundredth of it; or if it has memory of more devices than that one.
 * None does if there are fewer than three. */
#ifndef SC_REPORT_COMMAND_MEMORY_RANKS_H
#define SC_REPORT_COMMAND_MEMORY_RANKS_H

#include "report/command/scratch.h"
#include "report/command/table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_model;

enum sc_memory_quantity {
    SC_MEMORY_HELD,   /* of devices, at the end */
    SC_MEMORY_PEAK,   /* of devices, at most */
    SC_MEMORY_LOCKED, /* of the host */
    SC_MEMORY_UNACCOUNTED,
    SC_MEMORY_QUANTITIES
};

struct sc_memory_rank {
    size_t run;
    struct sc_digest program;
    uint64_t values[SC_MEMORY_QUANTITIES];
    uint64_t devices; /* of which it has memory, or a context */
    json_int_t least; /* of these the one of which it has least */
    uint64_t least_bytes;
    bool lacks_unaccounted; /* of a device */
    bool stands_out;
};

struct sc_memory_outlier {
    size_t run, typical; /* the one in the middle */
    enum sc_memory_quantity quantity;
    uint64_t value, typical_value;
    json_int_t stray; /* the device that the others have nothing of; SC_MEMORY_HOST: it is the value
                       * that stands out */
};

struct sc_memory_ranks {
    struct sc_memory_rank *ranks; /* those of which it is known, in the order of the runs */
    size_t count;
    struct sc_memory_outlier *outliers;
    size_t outlier_count;
};

/* All is allocated; sc_memory_ranks_free gives it back. */
struct sc_memory_ranks sc_memory_ranks_make(struct sc_model *model);
void sc_memory_ranks_free(struct sc_memory_ranks *ranks);

/* "holds 1 GB more than most" */
const char *sc_memory_ranks_words(struct sc_scratch *scratch,
                                  const struct sc_memory_outlier *outlier);

#endif
