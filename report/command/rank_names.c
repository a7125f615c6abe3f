#define _GNU_SOURCE 1
#include "report/command/rank_names.h"

#include "report/command/fields.h"
#include "report/command/rank_map.h"

#include <stdlib.h>
#include <string.h>

enum { SPANS_MAX = 16 };

/* Compares two ranks for qsort_r: numbers come by their value, other names in alphabetical order,
 * and equal ones in the order in which they were read. */
static int by_rank(const void *a, const void *b, void *context)
{
    const struct sc_rank_names *ranks = context;
    const size_t *left = a, *right = b;
    const char *names[] = {ranks->names[*left], ranks->names[*right]};
    long numbers[] = {sc_rank_map_number(names[0]), sc_rank_map_number(names[1])};
    int order = numbers[0] == numbers[1]  ? strcmp(names[0], names[1])
                : numbers[0] < numbers[1] ? -1
                                          : 1;
    return order ? order : *left < *right ? -1 : *left > *right;
}

/* Collects the ranks of all runs, in order. Returns false if memory runs out. */
bool sc_rank_names_make(struct sc_rank_names *ranks, const struct sc_reader *reader)
{
    *ranks = (struct sc_rank_names){
        .names = calloc(reader->run_count + 1, sizeof *ranks->names),
        .in_order = calloc(reader->run_count + 1, sizeof *ranks->in_order),
    };
    for (size_t i = 0; ranks->names && ranks->in_order && i < reader->run_count; i++) {
        json_t *record = sc_reader_run(reader, i);
        const char *name = sc_field_string(json_object_get(record, "run"), "rank", NULL);
        ranks->names[i] = name ? strdup(name) : NULL;
        if (ranks->names[i])
            ranks->in_order[ranks->count++] = i;
        json_decref(record);
    }
    if (ranks->names && ranks->in_order)
        qsort_r(ranks->in_order, ranks->count, sizeof *ranks->in_order, by_rank, ranks);
    return ranks->names && ranks->in_order;
}

/* Frees the ranks' names. */
void sc_rank_names_free(struct sc_rank_names *ranks)
{
    for (size_t i = 0; i < ranks->count; i++)
        free(ranks->names[ranks->in_order[i]]);
    free(ranks->names);
    free(ranks->in_order);
    *ranks = (struct sc_rank_names){0};
}

static const char *name_at(const struct sc_rank_names *ranks, size_t at)
{
    return ranks->names[ranks->in_order[at]];
}

/* Are there runs of several ranks? The names are sorted, so the first and the last tell. */
bool sc_rank_names_are_several(const struct sc_rank_names *ranks)
{
    return ranks->count > 1 && strcmp(name_at(ranks, 0), name_at(ranks, ranks->count - 1)) != 0;
}

/* ---- spans: "0-2, 5" ---- */

struct spans {
    struct sc_scratch *scratch;
    const char *words;  /* of the spans that are done; NULL: there are none */
    const char *begin;  /* of the one that is open; NULL: there is none */
    long first, last;   /* its numbers; -1: it is no number */
    size_t count, more; /* spans in words, and not in words */
    bool is_one;        /* a single rank in all */
};

/* Adds the span of ranks that has been collected to the words. */
static void close_span(struct spans *spans)
{
    if (!spans->begin)
        return;
    spans->is_one = !spans->words && spans->first == spans->last;
    if (spans->count >= SPANS_MAX) {
        spans->more++;
    } else {
        const char *text =
            spans->first == spans->last
                ? spans->begin
                : sc_scratch_print(spans->scratch, "%s%s%ld", spans->begin,
                                   spans->last == spans->first + 1 ? ", " : "-", spans->last);
        spans->words =
            spans->words ? sc_scratch_print(spans->scratch, "%s, %s", spans->words, text) : text;
        spans->count++;
    }
    spans->begin = NULL;
}

/* Adds a rank: to the span that is being collected, or as the first of a new one. */
static void add(struct spans *spans, const char *name, long number)
{
    if (spans->begin && number >= 0 && number <= spans->last + 1 && number >= spans->first) {
        spans->last = number > spans->last ? number : spans->last;
        return;
    }
    if (spans->begin && number < 0 && strcmp(spans->begin, name) == 0)
        return;
    close_span(spans);
    spans->begin = name;
    spans->first = spans->last = number;
}

/* Returns the spans of ranks in words, "ranks 0 to 3, 7"; NULL: none. */
static const char *words_of(struct spans *spans)
{
    close_span(spans);
    if (!spans->words)
        return NULL;
    const char *words =
        sc_scratch_print(spans->scratch, "rank%s %s", spans->is_one ? "" : "s", spans->words);
    return spans->more ? sc_scratch_print(spans->scratch, "%s and more", words) : words;
}

/* Returns the ranks of the runs that `is_in` takes, in words. Returns NULL if there are none. */
const char *sc_rank_names_words(const struct sc_rank_names *ranks, struct sc_scratch *scratch,
                                sc_rank_names_is_in *is_in, const void *context)
{
    struct spans spans = {.scratch = scratch};
    for (size_t i = 0; i < ranks->count; i++)
        if (is_in(context, ranks->in_order[i]))
            add(&spans, name_at(ranks, i), sc_rank_map_number(name_at(ranks, i)));
    return words_of(&spans);
}

/* Returns the ranks that have no report, in words. Returns NULL if none lacks one. */
const char *sc_rank_names_missing(const struct sc_rank_names *ranks, struct sc_scratch *scratch)
{
    struct spans spans = {.scratch = scratch};
    long next = 0;
    if (ranks->count == 0 || sc_rank_map_number(name_at(ranks, 0)) < 0)
        return NULL;
    for (size_t i = 0; i < ranks->count; i++) {
        long number = sc_rank_map_number(name_at(ranks, i));
        for (; next < number; next++)
            add(&spans, sc_scratch_print(scratch, "%ld", next), next);
        next = number + 1 > next ? number + 1 : next;
    }
    return words_of(&spans);
}
