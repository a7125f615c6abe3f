#include "report/command/rank_map.h"

#include <stdlib.h>

enum { SPANS_MAX = 16, NUMBER_MAX = 1000000 };

/* Returns the rank as a number, or -1 if it is none. */
long sc_rank_map_number(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);
    bool is_plain = name[0] >= '0' && name[0] <= '9' && *end == '\0';
    return is_plain && number < NUMBER_MAX ? number : -1;
}

/* Makes room for one more span of ranks. False: no memory. */
static bool make_room(struct sc_rank_map *map)
{
    size_t capacity = 2 * map->capacity + 1;
    if (map->count < map->capacity)
        return true;
    struct sc_rank_span *larger = realloc(map->spans, capacity * sizeof *larger);
    if (!larger)
        return false;
    map->spans = larger;
    map->capacity = capacity;
    return true;
}

/* Records the rank of a run. Runs in a row with ranks in a row share an entry. */
void sc_rank_map_add(struct sc_rank_map *map, size_t run, const char *rank)
{
    long number = rank ? sc_rank_map_number(rank) : -1;
    struct sc_rank_span *last = map->count > 0 ? &map->spans[map->count - 1] : NULL;
    if (number < 0)
        return;
    if (last && run == last->run + last->count && (uint32_t)number == last->rank + last->count)
        last->count++;
    else if (make_room(map))
        map->spans[map->count++] = (struct sc_rank_span){(uint32_t)run, 1, (uint32_t)number};
}

void sc_rank_map_free(struct sc_rank_map *map)
{
    free(map->spans);
    *map = (struct sc_rank_map){0};
}

/* ---- ranks of runs ---- */

static int by_first(const void *a, const void *b)
{
    const struct sc_run_span *left = a, *right = b;
    return left->first < right->first ? -1 : left->first > right->first;
}

/* In any order, and perhaps twice. */
struct found {
    struct sc_run_span *spans;
    size_t count, capacity;
};

/* Adds a span of ranks. */
static void take(struct found *found, uint32_t first, uint32_t last)
{
    if (found->count == found->capacity) {
        size_t capacity = 2 * found->capacity + 16;
        struct sc_run_span *larger = realloc(found->spans, capacity * sizeof *larger);
        if (!larger)
            return;
        found->spans = larger;
        found->capacity = capacity;
    }
    found->spans[found->count++] = (struct sc_run_span){first, last};
}

/* Adds the ranks of those runs that lie in both spans. */
static void take_common(struct found *found, const struct sc_rank_span *span, uint32_t first,
                        uint32_t last)
{
    uint32_t end = span->run + span->count - 1;
    first = first > span->run ? first : span->run;
    last = last < end ? last : end;
    if (first <= last)
        take(found, span->rank + (first - span->run), span->rank + (last - span->run));
}

/* Adds the ranks of all these runs. Both lists are in ascending order. */
static void take_all(struct found *found, const struct sc_rank_map *map,
                     const struct sc_run_set *runs)
{
    size_t at = 0, of = 0;
    while (at < map->count && of < runs->span_count) {
        const struct sc_rank_span *span = &map->spans[at];
        take_common(found, span, runs->spans[of].first, runs->spans[of].last);
        if (span->run + span->count - 1 < runs->spans[of].last)
            at++;
        else
            of++;
    }
}

/* Returns the ranks of these runs, or those of all runs if `runs` is NULL. */
struct sc_run_set sc_rank_map_ranks(const struct sc_rank_map *map, const struct sc_run_set *runs)
{
    struct sc_run_span all = {0, UINT32_MAX};
    struct sc_run_set every = {.spans = &all, .span_count = 1}, ranks = {0};
    struct found found = {0};
    take_all(&found, map, runs ? runs : &every);
    if (found.count > 0)
        qsort(found.spans, found.count, sizeof *found.spans, by_first);
    for (size_t i = 0; i < found.count; i++)
        sc_run_set_add_span(&ranks, found.spans[i]);
    free(found.spans);
    return ranks;
}

/* Returns the ranks below the highest that have no report. */
struct sc_run_set sc_rank_map_missing(const struct sc_run_set *ranks)
{
    struct sc_run_set missing = {0};
    uint32_t next = 0;
    for (size_t i = 0; i < ranks->span_count; i++) {
        if (ranks->spans[i].first > next)
            sc_run_set_add_span(&missing, (struct sc_run_span){next, ranks->spans[i].first - 1});
        next = ranks->spans[i].last + 1;
    }
    return missing;
}

/* Returns the ranks in words, as "0-3, 7". Returns NULL if there are none. */
const char *sc_rank_map_words(struct sc_scratch *scratch, const struct sc_run_set *ranks)
{
    const char *words = NULL;
    for (size_t i = 0; i < ranks->span_count && i < SPANS_MAX; i++) {
        const struct sc_run_span *span = &ranks->spans[i];
        words =
            sc_scratch_print(scratch, "%s%s%u", words ? words : "", words ? ", " : "", span->first);
        if (span->last > span->first)
            words = sc_scratch_print(scratch, "%s%s%u", words,
                                     span->last == span->first + 1 ? ", " : "-", span->last);
    }
    return ranks->span_count > SPANS_MAX ? sc_scratch_print(scratch, "%s and more", words) : words;
}
