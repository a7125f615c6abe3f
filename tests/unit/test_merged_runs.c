/* The runs of many ranks as one: what is kept of them grows with what differs, and not with how
 * many they are.
 */
#define _GNU_SOURCE 1
#include "report/command/merged_runs.h"
#include "report/command/reader.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME(offset)                                                                              \
    "{\"module\":\"/opt/app/libtrain.so\",\"offset\":\"" offset "\",\"symbol\":\"step\"}"
#define HAZARD(offset)                                                                             \
    "{\"type\":\"hazard\",\"code\":\"SC101\",\"name\":\"source-freed-in-flight\","                 \
    "\"certainty\":\"observed\",\"action\":\"deferred\",\"buffer\":{\"address\":\"0x10\","         \
    "\"size\":64,\"kind\":\"pinned\"},\"copy\":{\"api\":\"cuMemcpyHtoDAsync_v2\","                 \
    "\"direction\":\"H2D\",\"address\":\"0x10\",\"size\":64,\"stream\":\"0x5\",\"device\":0,"      \
    "\"seq\":3,\"thread\":9,\"time_ns\":12,\"stack\":[" FRAME(                                     \
        offset) "]},\"event\":{"                                                                   \
                "\"api\":\"free\",\"thread\":9,\"time_ns\":13,\"stack\":[" FRAME(                  \
                    "0x9") "]},"                                                                   \
                           "\"count\":1}\n"
#define SUMMARY                                                                                    \
    "{\"type\":\"summary\",\"hazards\":%d,\"observed\":%d,\"latent\":0,\"suppressed\":0,"          \
    "\"by_code\":{\"SC101\":%d},\"operations\":7,\"held_peak_bytes\":%zu,\"exit_status\":%d,"      \
    "\"memory\":{\"time_ns\":5,\"devices\":[{\"device\":0,\"uuid\":\"GPU-%zu\"}]}}\n"

/* What jansson has allocated and not freed. */
static size_t json_living;

static void *count_malloc(size_t size)
{
    json_living++;
    return malloc(size);
}

static void count_free(void *block)
{
    json_living -= block != NULL;
    free(block);
}

static char *write_report(size_t rank, bool has_other, bool ends)
{
    char *text = NULL, *summary = NULL;
    int hazards = has_other ? 2 : 1;
    ck_assert_int_ge(
        asprintf(&summary, SUMMARY, hazards, hazards, hazards, rank, rank == 5 ? 66 : 0, rank), 0);
    ck_assert_int_ge(
        asprintf(&text,
                 "{\"type\":\"run\",\"schema\":1,\"version\":\"0.1.0\",\"command\":[\"./train\","
                 "\"--rank\",\"%zu\"],\"pid\":%zu,\"started\":%zu,\"host\":\"node%zu\","
                 "\"rank\":\"%zu\",\"driver_version\":13000,\"runtime_version\":13000,"
                 "\"devices\":[\"GPU\"],\"options\":{\"mode\":\"fix\"},\"modules\":[{\"path\":"
                 "\"/opt/app/libtrain.so\",\"base\":\"0x%zx000\",\"build_id\":\"aa\"}]}\n%s%s%s",
                 rank, 100 + rank, rank + 1, rank / 8, rank, rank + 1, HAZARD("0x4"),
                 has_other ? HAZARD("0x5") : "", ends ? summary : ""),
        0);
    free(summary);
    return text;
}

static void add(struct sc_reader *reader, size_t rank, bool has_other, bool ends)
{
    char name[32], *text = write_report(rank, has_other, ends);
    snprintf(name, sizeof name, "rank%zu.jsonl", rank);
    FILE *stream = fmemopen(text, strlen(text), "r");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(sc_reader_add(reader, name, stream), 1);
    fclose(stream);
    free(text);
}

/* What is kept, before the record of all is made. */
struct kept {
    size_t json, runs, findings, hazard_spans, pieces, builds, rank_spans, statuses;
};

static struct kept read_ranks(size_t count)
{
    struct sc_reader reader = {.merges = true, .quiet = true, .brief = true};
    size_t before = json_living;
    for (size_t rank = 0; rank < count; rank++)
        add(&reader, rank, rank >= 20 && rank < 30, true);
    struct kept kept = {
        .json = json_living - before,
        .runs = reader.run_count,
        .findings = reader.findings.count,
        .pieces = reader.findings.pieces.table.count,
        .builds = reader.findings.builds.count,
        .rank_spans = reader.merged.ranks.count,
        .statuses = json_object_size(reader.merged.statuses),
    };
    for (struct sc_finding *one = reader.findings.first; one; one = one->next)
        kept.hazard_spans += one->runs.span_count;
    ck_assert_uint_eq(reader.merged.count, count);
    sc_reader_free(&reader);
    ck_assert_uint_eq(json_living, before);
    return kept;
}

START_TEST(what_is_kept_does_not_grow_with_ranks)
{
    json_set_alloc_funcs(count_malloc, count_free);
    const struct kept few = read_ranks(100), many = read_ranks(3000);
    ck_assert_uint_eq(few.findings, 2);
    ck_assert_uint_eq(few.hazard_spans, 2);
    ck_assert_uint_eq(few.rank_spans, 1);
    ck_assert_uint_eq(few.runs, 0);
    ck_assert_mem_eq(&few, &many, sizeof few);
}
END_TEST

/* As many spans as gaps. */
START_TEST(it_grows_with_what_differs)
{
    struct sc_reader reader = {.merges = true, .quiet = true};
    for (size_t rank = 0; rank < 100; rank++)
        add(&reader, rank, rank % 2, true);
    ck_assert_uint_eq(reader.findings.first->next->runs.span_count, 50);
    ck_assert_uint_eq(reader.findings.first->next->runs.count, 50);
    sc_reader_free(&reader);
}
END_TEST

static json_t *record_of(size_t count, size_t killed)
{
    struct sc_reader reader = {.merges = true, .quiet = true};
    for (size_t rank = 0; rank < count; rank++)
        add(&reader, rank, false, rank != killed);
    sc_reader_end(&reader);
    ck_assert_uint_eq(reader.run_count, 1);
    json_t *record = sc_reader_run(&reader, 0);
    sc_reader_free(&reader);
    return record;
}

static json_int_t number(const json_t *object, const char *key)
{
    ck_assert(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

START_TEST(summaries_are_added_up)
{
    json_t *record = record_of(64, 64), *summary = json_object_get(record, "summary");
    json_t *merged = json_object_get(record, "merged");
    ck_assert_int_eq(number(summary, "operations"), 7 * 64);
    ck_assert_int_eq(number(json_object_get(summary, "by_code"), "SC101"), 64);
    ck_assert_int_eq(number(summary, "held_peak_bytes"), 63);
    ck_assert_ptr_null(json_object_get(summary, "memory"));
    ck_assert_ptr_null(json_object_get(summary, "exit_status"));
    ck_assert_int_eq(number(json_object_get(merged, "exit_statuses"), "66"), 1);
    ck_assert_str_eq(json_string_value(json_object_get(merged, "ranks")), "0-63");
    ck_assert_ptr_null(json_object_get(merged, "not_ended"));
    json_decref(record);
}
END_TEST

START_TEST(who_has_not_ended_is_named)
{
    json_t *record = record_of(64, 9);
    json_t *merged = json_object_get(record, "merged");
    json_t *not_ended = json_object_get(merged, "not_ended");
    ck_assert(json_is_null(json_object_get(record, "summary")));
    ck_assert_int_eq(number(merged, "ended"), 63);
    ck_assert_str_eq(json_string_value(json_object_get(not_ended, "ranks")), "9");
    ck_assert_str_eq(json_string_value(json_object_get(not_ended, "file")), "rank9.jsonl");
    json_decref(record);
}
END_TEST

/* ---- sets ---- */

START_TEST(spans_are_joined)
{
    struct sc_run_set one = {0}, other = {0};
    static const size_t ones[] = {0, 1, 2, 7, 8, 20}, others[] = {3, 5, 6, 8, 9, 21, 30};
    for (size_t i = 0; i < sizeof ones / sizeof ones[0]; i++)
        sc_run_set_add(&one, ones[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        sc_run_set_add(&other, others[i]);
    ck_assert_uint_eq(one.span_count, 3);
    sc_run_set_unite(&one, &other);
    ck_assert_uint_eq(one.count, 12);
    ck_assert_uint_eq(one.span_count, 4);
    for (size_t i = 0; i < 40; i++)
        ck_assert_int_eq(sc_run_set_has(&one, i),
                         i <= 3 || (i >= 5 && i <= 9) || i == 20 || i == 21 || i == 30);
    sc_run_set_free(&one);
    sc_run_set_free(&other);
}
END_TEST

/* Names in another order than ranks, two runs of a rank, and ranks that are none. */
START_TEST(ranks_of_runs)
{
    static const char *const names[] = {"4", "5", "6", "0", "1", "1", "x", NULL, "9"};
    struct sc_rank_map map = {0};
    struct sc_scratch scratch = {0};
    struct sc_run_set runs = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        sc_rank_map_add(&map, i, names[i]);
    struct sc_run_set all = sc_rank_map_ranks(&map, NULL), missing = sc_rank_map_missing(&all);
    ck_assert_str_eq(sc_rank_map_words(&scratch, &all), "0, 1, 4-6, 9");
    ck_assert_str_eq(sc_rank_map_words(&scratch, &missing), "2, 3, 7, 8");
    sc_run_set_add(&runs, 1);
    sc_run_set_add(&runs, 5);
    sc_run_set_add(&runs, 6);
    struct sc_run_set some = sc_rank_map_ranks(&map, &runs);
    ck_assert_str_eq(sc_rank_map_words(&scratch, &some), "1, 5");
    sc_run_set_free(&all);
    sc_run_set_free(&missing);
    sc_run_set_free(&some);
    sc_run_set_free(&runs);
    sc_rank_map_free(&map);
    sc_scratch_free(&scratch);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merged runs");
    TCase *runs = tcase_create("runs"), *sets = tcase_create("sets");
    tcase_set_timeout(runs, 60);
    tcase_add_test(runs, what_is_kept_does_not_grow_with_ranks);
    tcase_add_test(runs, it_grows_with_what_differs);
    tcase_add_test(runs, summaries_are_added_up);
    tcase_add_test(runs, who_has_not_ended_is_named);
    tcase_add_test(sets, spans_are_joined);
    tcase_add_test(sets, ranks_of_runs);
    suite_add_tcase(suite, runs);
    suite_add_tcase(suite, sets);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
