/* Places: a place has all findings (different hazards, findings.h) that happened at the same lines
 * of the user's own code (fingerprint.h). */
#ifndef SC_REPORT_COMMAND_HAZARD_PLACES_H
#define SC_REPORT_COMMAND_HAZARD_PLACES_H

#include "report/command/findings.h"
#include "report/command/table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct sc_baseline_hazard;

struct sc_hazard_place {
    const struct sc_finding *finding; /* the gravest of its findings, which is shown */
    const char *suppression; /* why it is suppressed by the file of suppressions; NULL: it is not */
    bool is_new;             /* the baseline does not have it */
    /* the baseline's hazard; NULL: there is none, or the place is suppressed */
    struct sc_baseline_hazard *known;
    bool has_lines;   /* all its frames have source lines (fingerprint.h); set only if `known` */
    size_t stacks;    /* how many findings it has */
    json_int_t count; /* over all its findings */
    bool is_least;    /* there may have been more */
    size_t least;     /* of how many of its findings there may have been more */
    struct sc_run_set had; /* the runs of all its findings, if it has several findings */
};

struct sc_hazard_place sc_hazard_place_of(const struct sc_finding *finding);

/* Adds the findings of `other`, which has one finding, to `place`. */
void sc_hazard_place_merge(struct sc_hazard_place *place, const struct sc_hazard_place *other);

/* Returns the runs that had a hazard at the place, by their numbers from 0. */
const struct sc_run_set *sc_hazard_place_runs(const struct sc_hazard_place *place);

/* Returns the hazard line to show for the place, as sc_finding_read makes it, with "count", "runs"
 * and "count_is_least" over all its findings, and "stacks" if there are several findings. */
json_t *sc_hazard_place_read(const struct sc_hazard_place *place);

void sc_hazard_place_free(struct sc_hazard_place *place);

/* Makes a place's count exact if the summaries allow that. They count hazards by code, so the place
 * must have all findings of its code that may have happened more often than their lines say. */
void sc_hazard_places_make_exact(struct sc_hazard_place *places, size_t count,
                                 const struct sc_findings *findings);

/* Sorts the places as they are shown: new before known, observed before latent, frequent before
 * rare, and otherwise in the order in which they came. */
void sc_hazard_places_sort(struct sc_hazard_place *places, size_t count);

/* Places by their digests. All zero is none. */
struct sc_hazard_places {
    struct sc_table table;
    struct sc_hazard_place_entry *first;
};

/* Returns the place with this digest. If there is none, `place` is added as that. */
struct sc_hazard_place *sc_hazard_places_find(struct sc_hazard_places *places,
                                              const struct sc_digest *digest,
                                              struct sc_hazard_place *place);

/* Frees the table of places; the places themselves stay the caller's. */
void sc_hazard_places_free(struct sc_hazard_places *places);

#endif
