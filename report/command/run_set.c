#include "report/command/run_set.h"

#include <stdlib.h>

/* Returns room for one more span, or NULL if memory runs out. */
static struct sc_run_span *new_span(struct sc_run_set *set)
{
    if (set->span_count == set->capacity) {
        size_t capacity = 2 * set->capacity + 1;
        struct sc_run_span *larger = realloc(set->spans, capacity * sizeof *larger);
        if (!larger)
            return NULL;
        set->spans = larger;
        set->capacity = capacity;
    }
    return &set->spans[set->span_count++];
}

/* Adds runs, which come in order. Spans that touch become one. */
void sc_run_set_add_span(struct sc_run_set *set, struct sc_run_span span)
{
    struct sc_run_span *last = set->span_count > 0 ? &set->spans[set->span_count - 1] : NULL;
    if (last && span.last <= last->last)
        return;
    if (last && span.first <= last->last + 1) {
        set->count += span.last - last->last;
        last->last = span.last;
        return;
    }
    struct sc_run_span *added = new_span(set);
    if (!added)
        return;
    *added = span;
    set->count += (size_t)span.last - span.first + 1;
}

void sc_run_set_add(struct sc_run_set *set, size_t number)
{
    sc_run_set_add_span(set, (struct sc_run_span){(uint32_t)number, (uint32_t)number});
}

/* Compares a number with a span, for bsearch. */
static int by_span(const void *key, const void *element)
{
    uint32_t number = *(const uint32_t *)key;
    const struct sc_run_span *span = element;
    return number < span->first ? -1 : number > span->last;
}

/* Is the run in the set? */
bool sc_run_set_has(const struct sc_run_set *set, size_t number)
{
    uint32_t key = (uint32_t)number;
    return set->span_count > 0 &&
           bsearch(&key, set->spans, set->span_count, sizeof *set->spans, by_span);
}

/* Adds all runs of the other set. Spans must be added in ascending order, so the two lists are
 * merged. Without memory nothing changes. */
void sc_run_set_unite(struct sc_run_set *set, const struct sc_run_set *other)
{
    struct sc_run_set both = {0};
    size_t at = 0, of = 0;
    both.spans = calloc(set->span_count + other->span_count + 1, sizeof *both.spans);
    if (!both.spans)
        return;
    both.capacity = set->span_count + other->span_count + 1;
    while (at < set->span_count || of < other->span_count) {
        bool is_own = of == other->span_count ||
                      (at < set->span_count && set->spans[at].first <= other->spans[of].first);
        sc_run_set_add_span(&both, is_own ? set->spans[at++] : other->spans[of++]);
    }
    sc_run_set_free(set);
    *set = both;
}

void sc_run_set_free(struct sc_run_set *set)
{
    free(set->spans);
    *set = (struct sc_run_set){0};
}
