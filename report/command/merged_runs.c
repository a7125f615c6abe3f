#define _GNU_SOURCE 1
#include "report/command/merged_runs.h"

#include "report/command/fields.h"
#include "report/command/run_record.h"
#include "report/command/scratch.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whatever a report says: keys of an object, depth of objects, lines that are named. */
enum { KEYS_MAX = 256, DEPTH_MAX = 4, NAMED_LINES_MAX = 16 };

/* ---- sums ---- */

/* Does the text end so? */
static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), of_end = strlen(end);
    return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

/* Is it a member of which the greatest counts, and not the sum over runs: a time, or a peak? */
static bool is_most(const char *key)
{
    return ends_in(key, "_ns") || strstr(key, "peak");
}

/* Adds up counts; of peaks and the like the greatest is kept. */
static json_int_t add_number(const char *key, json_int_t sum, json_int_t more)
{
    json_int_t both;
    if (is_most(key))
        return more > sum ? more : sum;
    return __builtin_add_overflow(sum, more, &both) ? INT64_MAX : both;
}

/* Does the member describe only one process, so that it is left out of the merged summary? */
static bool is_left_out(const char *key)
{
    static const char *const names[] = {"memory", "limits", "exit_status", "suppressions_unused",
                                        "sites"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], key) == 0)
            return true;
    return false;
}

static void add_up(json_t *sums, json_t *more, int depth);

/* Adds a member of one run's summary to the sums of all. What is no number is kept from the first
 * run. */
static void add_member(json_t *sums, const char *key, json_t *value, int depth)
{
    json_t *known = json_object_get(sums, key);
    if (is_left_out(key) || (!known && json_object_size(sums) >= KEYS_MAX))
        return;
    if (json_is_integer(value)) {
        json_int_t sum = json_integer_value(known);
        json_object_set_new(sums, key,
                            json_integer(add_number(key, sum, json_integer_value(value))));
    } else if (json_is_object(value)) {
        if (!json_is_object(known))
            json_object_set_new(sums, key, json_object());
        if (depth < DEPTH_MAX)
            add_up(json_object_get(sums, key), value, depth + 1);
    } else if (!known) {
        json_object_set(sums, key, value);
    }
}

/* Adds a run's summary to that of all; words and lists stay those of the first run that has
 * them. */
static void add_up(json_t *sums, json_t *more, int depth)
{
    const char *key;
    json_t *value;
    json_object_foreach(more, key, value)
    {
        add_member(sums, key, value, depth);
    }
}

/* Counts how many runs have ended with each status. */
static void count_status(struct sc_merged_runs *merged, const json_t *summary)
{
    const json_t *status = json_object_get(summary, "exit_status");
    char key[24];
    if (!json_is_integer(status))
        return;
    snprintf(key, sizeof key, "%" JSON_INTEGER_FORMAT, json_integer_value(status));
    if (json_object_get(merged->statuses, key) || json_object_size(merged->statuses) < KEYS_MAX)
        json_object_set_new(merged->statuses, key,
                            json_integer(sc_field_number(merged->statuses, key) + 1));
}

/* ---- what differs ---- */

/* Adds the run to the runs that have a property in common. The first one's file is kept, as an
 * example. */
static void note(struct sc_runs_alike *alike, size_t number, const json_t *run)
{
    if (!alike->file)
        alike->file = strdup(sc_field_string(run, "file", "?"));
    sc_run_set_add(&alike->runs, number);
}

/* Records which runs have not ended, are in doubt, or have lost their context, and their ranks. */
static void note_all(struct sc_merged_runs *merged, size_t number, const json_t *run)
{
    bool is_over = json_is_object(json_object_get(run, "summary")) ||
                   json_is_true(json_object_get(run, "replaced"));
    if (!is_over)
        note(&merged->not_ended, number, run);
    if (sc_field_number(run, "bad_lines") > 0 || json_object_get(run, "unreadable") ||
        json_is_true(json_object_get(run, "lines_missing")))
        note(&merged->in_doubt, number, run);
    if (json_object_get(run, "postmortem"))
        note(&merged->lost, number, run);
    sc_rank_map_add(&merged->ranks, number,
                    sc_field_string(json_object_get(run, "run"), "rank", NULL));
}

/* ---- one record ---- */

/* Adds the lines that could not be read, each with its file, as they stand in several. */
static void take_bad_lines(json_t *record, const json_t *run)
{
    size_t index;
    json_t *line;
    const char *file = sc_field_string(run, "file", "?");
    json_int_t count = sc_field_number(record, "bad_lines");
    json_array_foreach(json_object_get(run, "unread"), index, line)
    {
        char *problem = NULL;
        if (json_array_size(json_object_get(record, "unread")) >= NAMED_LINES_MAX ||
            asprintf(&problem, "%s, in %s", sc_field_string(line, "problem", "?"), file) < 0)
            break;
        sc_run_record_add_bad_line(record, (size_t)sc_field_number(line, "line"), problem);
        free(problem);
    }
    json_object_set_new(record, "bad_lines",
                        json_integer(count + sc_field_number(run, "bad_lines")));
}

/* Keeps the first reason why a run could not be read. */
static void take_unreadable(json_t *record, const json_t *run)
{
    const char *why = sc_field_string(run, "unreadable", NULL);
    char *words = NULL;
    if (!why || json_object_get(record, "unreadable"))
        return;
    if (asprintf(&words, "%s, %s", sc_field_string(run, "file", "?"), why) < 0)
        return;
    sc_run_record_set_unreadable(record, words);
    free(words);
}

/* Takes the program and the versions from the first run. If another run had another program, says
 * that there are several. */
static void take_line(json_t *record, const json_t *run)
{
    static const char *const kept[] = {"schema",         "version",         "command",
                                       "driver_version", "runtime_version", "protections_off",
                                       "unreached"};
    json_t *line = json_object_get(run, "run"), *known = json_object_get(record, "run");
    if (!json_is_object(line))
        return;
    if (!json_is_object(known)) {
        json_object_set_new(record, "run", known = json_object());
        for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
            if (json_object_get(line, kept[i]))
                json_object_set(known, kept[i], json_object_get(line, kept[i]));
    }
    if (!json_equal(json_array_get(json_object_get(known, "command"), 0),
                    json_array_get(json_object_get(line, "command"), 0)))
        json_object_set_new(known, "command", json_pack("[s]", "several programs"));
    if (json_is_true(json_object_get(line, "unreached")))
        json_object_set_new(known, "unreached", json_true());
}

/* Takes the run's calls that came through no wrapper. A call that an earlier run had as well is
 * replaced. */
static void take_misses(json_t *record, const json_t *run)
{
    size_t index;
    json_t *miss;
    json_array_foreach(json_object_get(run, "missed"), index, miss)
    {
        sc_run_record_take_miss(record, miss);
    }
}

/* Takes, from the first run that has them, the members that the merged record has only once. */
static void take_rest(json_t *record, const json_t *run)
{
    static const char *const kept[] = {"cupti", "postmortem", "oom", "lines_missing"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        json_t *value = json_object_get(run, kept[i]);
        if (value && !json_object_get(record, kept[i]))
            json_object_set(record, kept[i], value);
    }
}

/* Adds one run to the record that stands for all. */
void sc_merged_runs_add(struct sc_merged_runs *merged, size_t number, const json_t *run)
{
    json_t *summary = json_object_get(run, "summary");
    if (!merged->record) {
        merged->record = sc_run_record_make("?");
        merged->summary = json_object();
        merged->statuses = json_object();
    }
    merged->count++;
    note_all(merged, number, run);
    count_status(merged, summary);
    add_up(merged->summary, summary, 0);
    take_line(merged->record, run);
    take_bad_lines(merged->record, run);
    take_unreadable(merged->record, run);
    take_misses(merged->record, run);
    take_rest(merged->record, run);
}

/* ---- the whole ---- */

/* Writes a set of ranks in words; nothing if it is empty. */
static void put_ranks(json_t *object, const char *key, const struct sc_run_set *ranks)
{
    struct sc_scratch scratch = {0};
    const char *words = sc_rank_map_words(&scratch, ranks);
    if (words)
        json_object_set_new(object, key, json_string(words));
    sc_scratch_free(&scratch);
}

/* Puts which ranks such runs are, and one of their files. */
static void put_alike(json_t *object, const char *key, const struct sc_merged_runs *merged,
                      const struct sc_runs_alike *alike)
{
    if (alike->runs.count == 0)
        return;
    struct sc_run_set ranks = sc_rank_map_ranks(&merged->ranks, &alike->runs);
    json_t *value = json_object();
    json_object_set_new(value, "runs", json_integer((json_int_t)alike->runs.count));
    put_ranks(value, "ranks", &ranks);
    json_object_set_new(value, "file", json_string(alike->file ? alike->file : "?"));
    json_object_set_new(object, key, value);
    sc_run_set_free(&ranks);
}

/* Writes which ranks there are, and which are missing between them: their reports may be lost. */
static void put_all_ranks(json_t *object, const struct sc_merged_runs *merged)
{
    struct sc_run_set ranks = sc_rank_map_ranks(&merged->ranks, NULL);
    struct sc_run_set missing = sc_rank_map_missing(&ranks);
    put_ranks(object, "ranks", &ranks);
    put_ranks(object, "missing_ranks", &missing);
    sc_run_set_free(&missing);
    sc_run_set_free(&ranks);
}

/* Makes the record of all merged runs: counts, ranks, and which runs did not end, are in doubt or
 * lost their context. */
static json_t *describe(const struct sc_merged_runs *merged)
{
    json_t *object = json_object();
    json_int_t ended = (json_int_t)(merged->count - merged->not_ended.runs.count);
    json_object_set_new(object, "runs", json_integer((json_int_t)merged->count));
    json_object_set_new(object, "ended", json_integer(ended));
    json_object_set_new(object, "operations",
                        json_integer(sc_field_number(merged->summary, "operations")));
    json_object_set_new(object, "hazards",
                        json_integer(sc_field_number(merged->summary, "hazards")));
    json_object_set(object, "exit_statuses", merged->statuses);
    put_all_ranks(object, merged);
    put_alike(object, "not_ended", merged, &merged->not_ended);
    put_alike(object, "in_doubt", merged, &merged->in_doubt);
    put_alike(object, "lost", merged, &merged->lost);
    return object;
}

/* Returns the record of all runs in place of one run's. Returns NULL if there was none. The caller
 * releases it. */
json_t *sc_merged_runs_record(const struct sc_merged_runs *merged)
{
    char file[48];
    if (!merged->record)
        return NULL;
    json_t *record = json_copy(merged->record);
    snprintf(file, sizeof file, "%zu report%s", merged->count, merged->count == 1 ? "" : "s");
    json_object_set_new(record, "file", json_string(file));
    json_object_set_new(record, "merged", describe(merged));
    if (merged->not_ended.runs.count == 0)
        json_object_set(record, "summary", merged->summary);
    if (json_object_size(merged->statuses) == 1 && merged->not_ended.runs.count == 0) {
        const char *status = json_object_iter_key(json_object_iter(merged->statuses));
        json_object_set_new(merged->summary, "exit_status", json_integer(atoll(status)));
    }
    return record;
}

static void free_alike(struct sc_runs_alike *alike)
{
    sc_run_set_free(&alike->runs);
    free(alike->file);
}

/* Frees all; the struct is empty then. */
void sc_merged_runs_free(struct sc_merged_runs *merged)
{
    json_decref(merged->record);
    json_decref(merged->summary);
    json_decref(merged->statuses);
    sc_rank_map_free(&merged->ranks);
    free_alike(&merged->not_ended);
    free_alike(&merged->in_doubt);
    free_alike(&merged->lost);
    *merged = (struct sc_merged_runs){0};
}
