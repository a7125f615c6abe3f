/* The hazards seen so far, equal ones counted together. A fixed table, plain data; the caller's
 * lock guards it.
 */
#ifndef SC_REPORT_HAZARD_COUNTS_H
#define SC_REPORT_HAZARD_COUNTS_H

#include "track/hazard.h"

#include <stdbool.h>
#include <stdint.h>

enum { SC_HAZARD_COUNTS_MAX = 2048 };

struct sc_hazard_counts {
    struct sc_hazard first; /* the first of the equal ones, with the strongest certainty of all */
    uint64_t count;
    bool is_timed; /* it is known when the copy of one of them ran */
    int64_t
        remaining_ns; /* then the longest that one had left to run; negative: over so long ago */
};

/* Counts `hazard`. Returns its entry, or NULL when the table is full; *telling says whether it is
 * the 1st, 2nd, 4th, ... of its equals, or the first of them that was observed. */
const struct sc_hazard_counts *sc_hazard_counts_note(const struct sc_hazard *hazard, bool *telling);

/* One of those that were noted: its copy ran until so long after the event. */
void sc_hazard_counts_note_time(const struct sc_hazard *hazard, int64_t remaining_ns);

/* Number of distinct hazards. */
unsigned sc_hazard_counts_count(void);

/* Copies the `most` that matter most, observed before latent, frequent before rare; returns how
 * many there are. */
unsigned sc_hazard_counts_top(struct sc_hazard_counts *top, unsigned most);

void sc_hazard_counts_forget(void);

#endif
