/* The hazards that were found so far. Equal hazards share one entry and are counted (report.h says
 * which are equal).
 *
 * A fixed table of plain data. Locks: the caller's lock guards the table. */
#ifndef SC_REPORT_HAZARD_COUNTS_H
#define SC_REPORT_HAZARD_COUNTS_H

#include "common/hazard.h"

#include <stdbool.h>
#include <stdint.h>

enum { SC_HAZARD_COUNTS_MAX = 2048, SC_HAZARD_COUNTS_RELABELLED_MAX = 1000 };

struct sc_hazard_counts {
    struct sc_hazard first; /* the first of its equals, with the strongest certainty of all */
    uint64_t count;
    uint64_t place;       /* a hash of where it happened; 0: not known, a place of its own */
    uint64_t label;       /* a hash of the latest hazard's label */
    unsigned relabelled;  /* how often a new label alone was a reason for a line */
    bool is_timed;        /* remaining_ns is known */
    int64_t remaining_ns; /* the longest that a copy ran on; negative: it was over */
};

/* Counts `hazard`. Returns the entry that it shares with its equals; NULL: the table is full.
 * *telling: is the hazard worth a line of the report? It is if it is the 1st, 2nd, 4th, 8th, ... of
 * its equals, or the first observed one, or if its label differs from the last one's. Labels alone
 * give an entry at most a thousand lines. */
const struct sc_hazard_counts *sc_hazard_counts_note(const struct sc_hazard *hazard, bool *telling);

/* Notes that the copy of `hazard` ended `remaining_ns` after the event (before, if negative). Pre:
 * `hazard` has been noted. */
void sc_hazard_counts_note_time(const struct sc_hazard *hazard, int64_t remaining_ns);

/* Notes where `hazard` happened. Entries with the same `place` are shown as one. Pre: `hazard` has
 * been noted. */
void sc_hazard_counts_note_place(const struct sc_hazard *hazard, uint64_t place);

/* Copies the `most` places that matter most into `top`: observed before latent, frequent before
 * rare. A place has the summed counts of its entries, the hazard of the gravest entry, and the
 * label of the first. Returns how many places it copied; *places is how many there are. */
unsigned sc_hazard_counts_top(struct sc_hazard_counts *top, unsigned most, unsigned *places);

/* Empties the table. */
void sc_hazard_counts_forget(void);

#endif
