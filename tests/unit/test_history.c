/* track/history.c: rings of what was done last, and readers beside writers. */
#include "track/history.h"

#include <pthread.h>
#include <stdlib.h>

#include <check.h>

#include "tests/unit/rounds.h"

static struct sc_history_entry numbered(uint32_t stream, uint64_t number)
{
    return (struct sc_history_entry){
        .api = "cuMemcpyHtoDAsync_v2",
        .site = number + 1,
        .stack = (uint32_t)number + 2,
        .stream = stream,
        .thread = -3,
        .direction = SC_D2H,
        .ticks = number + 4,
        .number = number,
        .address = number + 5,
        .source = number + 6,
        .size_bytes = number + 7,
    };
}

static void check_numbered(const struct sc_history_entry *entry, uint32_t stream, uint64_t number)
{
    ck_assert_str_eq(entry->api, "cuMemcpyHtoDAsync_v2");
    ck_assert_uint_eq(entry->site, number + 1);
    ck_assert_uint_eq(entry->stack, (uint32_t)number + 2);
    ck_assert_uint_eq(entry->stream, stream);
    ck_assert_int_eq(entry->thread, -3);
    ck_assert_int_eq(entry->direction, SC_D2H);
    ck_assert_uint_eq(entry->ticks, number + 4);
    ck_assert_uint_eq(entry->number, number);
    ck_assert_uint_eq(entry->address, number + 5);
    ck_assert_uint_eq(entry->source, number + 6);
    ck_assert_uint_eq(entry->size_bytes, number + 7);
}

static struct sc_history *fresh(void)
{
    struct sc_history *history = calloc(1, sizeof *history);
    ck_assert_ptr_nonnull(history);
    return history;
}

START_TEST(an_empty_ring_has_nothing)
{
    struct sc_history_entry entries[SC_HISTORY_LENGTH];
    struct sc_history *history = fresh();
    ck_assert_uint_eq(sc_history_read(&history->frees, entries), 0);
    free(history);
}
END_TEST

START_TEST(the_latest_entries_stay_and_come_first)
{
    struct sc_history_entry entries[SC_HISTORY_LENGTH];
    struct sc_history *history = fresh();
    for (uint64_t i = 1; i <= 3; i++) {
        struct sc_history_entry entry = numbered(0, i);
        sc_history_note(&history->frees, i, &entry);
    }
    ck_assert_uint_eq(sc_history_read(&history->frees, entries), 3);
    for (unsigned i = 0; i < 3; i++)
        check_numbered(&entries[i], 0, 3 - i);
    for (uint64_t i = 4; i <= 1000; i++) {
        struct sc_history_entry entry = numbered(0, i);
        sc_history_note(&history->frees, i, &entry);
    }
    ck_assert_uint_eq(sc_history_read(&history->frees, entries), SC_HISTORY_LENGTH);
    for (unsigned i = 0; i < SC_HISTORY_LENGTH; i++)
        check_numbered(&entries[i], 0, 1000 - i);
    free(history);
}
END_TEST

START_TEST(streams_with_the_same_ring_share_it)
{
    struct sc_history_entry entries[SC_HISTORY_LENGTH];
    struct sc_history *history = fresh();
    struct sc_history_entry one = numbered(5, 1), other = numbered(5 + SC_HISTORY_RINGS, 2);
    struct sc_history_ring *ring = &history->streams[one.stream % SC_HISTORY_RINGS];
    ck_assert_ptr_eq(ring, &history->streams[other.stream % SC_HISTORY_RINGS]);
    sc_history_note(ring, 0, &one);
    sc_history_note(ring, 0, &other);
    ck_assert_uint_eq(sc_history_read(&history->streams[5], entries), 2);
    check_numbered(&entries[0], 5 + SC_HISTORY_RINGS, 2);
    check_numbered(&entries[1], 5, 1);
    ck_assert_uint_eq(sc_history_read(&history->streams[6], entries), 0);
    free(history);
}
END_TEST

enum { WRITERS = 2, WRITTEN = 20000 };

static void *write_many(void *of_stream)
{
    struct sc_history_ring *ring = of_stream;
    for (uint64_t i = 1; i <= WRITTEN; i++) {
        struct sc_history_entry entry = numbered(7, i);
        sc_history_note(ring, 0, &entry);
    }
    return NULL;
}

/* With two writers, one of whom would have to write a whole round while the other writes one entry
 * for a place to have both. */
START_TEST(readers_see_whole_entries)
{
    struct sc_history_entry entries[SC_HISTORY_LENGTH];
    struct sc_history *history = fresh();
    pthread_t writers[WRITERS];
    ck_assert_int_eq(pthread_create(&writers[0], NULL, write_many, &history->streams[7]), 0);
    unsigned reads = rounds(2000);
    for (unsigned round = 0; round < reads; round++) {
        unsigned count = sc_history_read(&history->streams[7], entries);
        for (unsigned i = 0; i < count; i++)
            check_numbered(&entries[i], 7, entries[i].number);
    }
    pthread_join(writers[0], NULL);
    for (int i = 0; i < WRITERS; i++)
        ck_assert_int_eq(pthread_create(&writers[i], NULL, write_many, &history->streams[8]), 0);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    ck_assert_uint_eq(sc_history_read(&history->streams[8], entries), SC_HISTORY_LENGTH);
    free(history);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("history");
    TCase *all = tcase_create("all");
    tcase_add_test(all, an_empty_ring_has_nothing);
    tcase_add_test(all, the_latest_entries_stay_and_come_first);
    tcase_add_test(all, streams_with_the_same_ring_share_it);
    tcase_add_test(all, readers_see_whole_entries);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
