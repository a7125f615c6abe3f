/* Compares the memory of processes that run the same program: what each holds, and which stand out.
 *
 * A process stands out if its value differs from the median by more than six times the median
 * difference, by more than 16 MB, and by more than a hundredth of the median; or if it has memory
 * on more devices than the median process. With fewer than three processes none stands out. */
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
    SC_MEMORY_HELD,   /* on devices, at the end */
    SC_MEMORY_PEAK,   /* on devices, at most */
    SC_MEMORY_LOCKED, /* on the host */
    SC_MEMORY_UNACCOUNTED,
    SC_MEMORY_QUANTITIES
};

struct sc_memory_rank {
    size_t run;
    struct sc_digest program;
    uint64_t values[SC_MEMORY_QUANTITIES];
    uint64_t devices;       /* on how many devices it has memory, or a context */
    json_int_t least;       /* of these devices, the one on which its peak was lowest */
    uint64_t least_bytes;   /* that peak */
    bool lacks_unaccounted; /* the unaccounted memory of a device is not known */
    bool stands_out;
};

struct sc_memory_outlier {
    size_t run, typical; /* the median process */
    enum sc_memory_quantity quantity;
    uint64_t value, typical_value;
    /* the device on which the others have nothing; SC_MEMORY_HOST: the value itself stands out */
    json_int_t stray;
};

struct sc_memory_ranks {
    struct sc_memory_rank *ranks; /* those whose memory is known, in the order of the runs */
    size_t count;
    struct sc_memory_outlier *outliers;
    size_t outlier_count;
};

/* Makes the comparison, which sc_memory_ranks_free frees. */
struct sc_memory_ranks sc_memory_ranks_make(struct sc_model *model);
void sc_memory_ranks_free(struct sc_memory_ranks *ranks);

/* Returns words such as "holds 1 GB more than most". */
const char *sc_memory_ranks_words(struct sc_scratch *scratch,
                                  const struct sc_memory_outlier *outlier);

#endif
