/* Counts the hazards that were found so far. Equal hazards (report.h says which are equal) share
 * one entry.
 *
 * A fixed table of plain data. Locks: the caller's lock guards the table. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   label: what the program calls what it does: a test, a request, a step
 *   latent: of a hazard: the operation was complete at the event, by luck
 */

#ifndef SC_REPORT_HAZARD_COUNTS_H
#define SC_REPORT_HAZARD_COUNTS_H

#include "common/hazard.h"

#include <stdbool.h>
#include <stdint.h>

enum { SC_HAZARD_COUNTS_MAX = 2048, SC_HAZARD_COUNTS_RELABELLED_MAX = 1000 };

/* What is known of hazards that are equal: the same mistake, found again and again. */
struct sc_hazard_counts {
    /* the first of the equal hazards, with the strongest certainty that any of them had */
    struct sc_hazard first;
    uint64_t count;
    /* a hash of the place in the user's code; 0: not known, so it counts as a place of its own */
    uint64_t place;
    uint64_t label;      /* a hash of the latest hazard's label */
    unsigned relabelled; /* how many lines were written only because the label was new */
    bool is_timed;       /* remaining_ns is known */
    /* the longest time that a copy still ran after the event; negative: it had ended before */
    int64_t remaining_ns;
};

/* Counts `hazard`. Returns the entry that it shares with equal ones; NULL: the table is full.
 * *telling: whether a line of the report is due: for the 1st, 2nd, 4th, 8th, ... of equal hazards,
 * for the first observed one, and if the label differs from the last one's. New labels alone give
 * an entry at most a thousand lines. */
const struct sc_hazard_counts *sc_hazard_counts_note(const struct sc_hazard *hazard, bool *telling);

/* Notes how long the copy of `hazard` ran on after the event, the call or access that came too
 * early; negative: it had ended before. Pre: `hazard` was counted. */
void sc_hazard_counts_note_time(const struct sc_hazard *hazard, int64_t remaining_ns);

/* Notes where in the user's code `hazard` happened (a hash). Entries of one place are shown as
 * one. Pre: `hazard` was counted. */
void sc_hazard_counts_note_place(const struct sc_hazard *hazard, uint64_t place);

/* Copies the `most` most important places into `top`: observed before latent, frequent before rare.
 * A place has the summed counts of its entries, the hazard of the gravest entry, and the label of
 * the first. Returns how many places were copied; *places gets how many there are. */
unsigned sc_hazard_counts_top(struct sc_hazard_counts *top, unsigned most, unsigned *places);

/* Empties the table, in a forked child. */
void sc_hazard_counts_forget(void);

#endif
