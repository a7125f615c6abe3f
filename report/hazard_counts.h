/* The hazards seen so far; equal hazards are counted together (report.h says which are equal).
 *
 * A fixed table of plain data. Locks: the caller's lock guards the table.
 */
#ifndef SC_REPORT_HAZARD_COUNTS_H
#define SC_REPORT_HAZARD_COUNTS_H

#include "common/hazard.h"

#include <stdbool.h>
#include <stdint.h>

enum { SC_HAZARD_COUNTS_MAX = 2048, SC_HAZARD_COUNTS_RELABELLED_MAX = 1000 };

struct sc_hazard_counts {
    struct sc_hazard first; /* the first of its equals, with the strongest certainty of all */
    uint64_t count;
    uint64_t place;       /* a hash of it; 0: not known, and the entry is one of its own */
    uint64_t label;       /* a hash of the latest one's */
    unsigned relabelled;  /* how often a change of the label was telling */
    bool is_timed;        /* remaining_ns is known */
    int64_t remaining_ns; /* the longest that a copy had left to run; negative: it was over */
};

/* Counts `hazard`. Returns its entry, or NULL when the table is full. *telling says whether the
 * hazard is the 1st, 2nd, 4th, ... of its equals, the first observed one among them, or has another
 * label than the one before; that a thousand times at most. */
const struct sc_hazard_counts *sc_hazard_counts_note(const struct sc_hazard *hazard, bool *telling);

/* `hazard` has been noted; its copy ended `remaining_ns` after the event, or before if negative. */
void sc_hazard_counts_note_time(const struct sc_hazard *hazard, int64_t remaining_ns);

/* `hazard` has been noted; entries with the same `place` are shown as one. */
void sc_hazard_counts_note_place(const struct sc_hazard *hazard, uint64_t place);

/* Copies the places that matter most into `top`, at most `most`: observed before latent, frequent
 * before rare. Each has the counts of its entries, the first hazard of the one that matters most,
 * and the label of the one that came first. Returns how many it copied; *places is how many there
 * are. */
unsigned sc_hazard_counts_top(struct sc_hazard_counts *top, unsigned most, unsigned *places);

void sc_hazard_counts_forget(void);

#endif
