#include "report/command/hazard_places.h"

#include <stdlib.h>
#include <string.h>

/* ---- one place ---- */

/* Makes a place of this finding alone; others at the same place are merged into it later. */
struct sc_hazard_place sc_hazard_place_of(const struct sc_finding *finding)
{
    return (struct sc_hazard_place){
        .finding = finding,
        .stacks = 1,
        .count = finding->count,
        .is_least = finding->is_least,
        .least = finding->is_least,
    };
}

/* Adds a finding that a reader would take for the same: at the same lines, by other stacks. */
void sc_hazard_place_merge(struct sc_hazard_place *place, const struct sc_hazard_place *other)
{
    json_int_t count;
    if (place->stacks == 1)
        sc_run_set_unite(&place->had, &place->finding->runs);
    sc_run_set_unite(&place->had, &other->finding->runs);
    if (!__builtin_add_overflow(place->count, other->count, &count))
        place->count = count;
    place->is_least = place->is_least || other->is_least;
    place->stacks += other->stacks;
    place->least += other->least;
}

/* Returns the runs in which the place had the hazard. With one stack these are the finding's own
 * set. */
const struct sc_run_set *sc_hazard_place_runs(const struct sc_hazard_place *place)
{
    return place->stacks == 1 ? &place->finding->runs : &place->had;
}

/* Returns the place as the record of a hazard. The caller releases it. */
json_t *sc_hazard_place_read(const struct sc_hazard_place *place)
{
    json_t *hazard = sc_finding_read(place->finding);
    json_object_set_new(hazard, "count", json_integer(place->count));
    if (place->is_least)
        json_object_set_new(hazard, "count_is_least", json_true());
    else
        json_object_del(hazard, "count_is_least");
    if (place->stacks == 1)
        return hazard;
    json_object_set_new(hazard, "runs",
                        json_integer((json_int_t)sc_hazard_place_runs(place)->count));
    json_object_set_new(hazard, "stacks", json_integer((json_int_t)place->stacks));
    return hazard;
}

void sc_hazard_place_free(struct sc_hazard_place *place)
{
    sc_run_set_free(&place->had);
}

/* ---- many ---- */

struct sc_hazard_place_entry {
    struct sc_node node;
    struct sc_hazard_place_entry *next;
    struct sc_hazard_place *place;
};

/* Finds the place with this digest, or adds `place` as it. */
struct sc_hazard_place *sc_hazard_places_find(struct sc_hazard_places *places,
                                              const struct sc_digest *digest,
                                              struct sc_hazard_place *place)
{
    const struct sc_node *known = sc_table_find(&places->table, digest);
    if (known)
        return ((const struct sc_hazard_place_entry *)(const void *)known)->place;
    struct sc_hazard_place_entry *entry = calloc(1, sizeof *entry);
    if (!entry)
        return place;
    *entry = (struct sc_hazard_place_entry){
        .node.digest = *digest, .next = places->first, .place = place};
    places->first = entry;
    sc_table_add(&places->table, &entry->node);
    return place;
}

/* Frees the table of places; the places themselves are the model's. */
void sc_hazard_places_free(struct sc_hazard_places *places)
{
    while (places->first) {
        struct sc_hazard_place_entry *entry = places->first;
        places->first = entry->next;
        free(entry);
    }
    sc_table_free(&places->table);
}

/* Makes the counts of places exact where that can be concluded: where all hazards of a code that
 * have no line of their own must be at one place. */
void sc_hazard_places_make_exact(struct sc_hazard_place *places, size_t count,
                                 const struct sc_findings *findings)
{
    size_t least[SC_FINDING_CODES] = {0};
    bool is_unbounded[SC_FINDING_CODES] = {false};
    for (const struct sc_finding *finding = findings->first; finding; finding = finding->next) {
        unsigned code = sc_finding_code_number(finding->code);
        least[code] += finding->is_least;
        is_unbounded[code] = is_unbounded[code] || finding->is_unbounded;
    }
    for (size_t i = 0; i < count; i++) {
        struct sc_hazard_place *place = &places[i];
        unsigned code = sc_finding_code_number(place->finding->code);
        json_int_t sum;
        if (place->least == 0 || place->least != least[code] || is_unbounded[code] ||
            __builtin_add_overflow(place->count, findings->shared[code], &sum))
            continue;
        place->count = sum;
        place->is_least = false;
    }
}

struct ranked {
    struct sc_hazard_place place;
    size_t rank;
};

/* Compares two places for qsort: new ones come first, then observed ones, then those that came more
 * often. */
static int by_weight(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    int certainty = strcmp(right->place.finding->certainty, left->place.finding->certainty);
    if (left->place.is_new != right->place.is_new)
        return left->place.is_new ? -1 : 1;
    if (certainty != 0)
        return certainty;
    if (left->place.count != right->place.count)
        return left->place.count > right->place.count ? -1 : 1;
    return left->rank < right->rank ? -1 : left->rank > right->rank;
}

/* Sorts the places with by_weight. Equal ones stay in their order. Without memory nothing is
 * sorted. */
void sc_hazard_places_sort(struct sc_hazard_place *places, size_t count)
{
    struct ranked *ranked = calloc(count + 1, sizeof *ranked);
    for (size_t i = 0; ranked && i < count; i++)
        ranked[i] = (struct ranked){places[i], i};
    if (ranked)
        qsort(ranked, count, sizeof *ranked, by_weight);
    for (size_t i = 0; ranked && i < count; i++)
        places[i] = ranked[i].place;
    free(ranked);
}
