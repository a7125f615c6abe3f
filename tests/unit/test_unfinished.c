/* links: interpose/streams/unfinished.c
 *
 * What may still be at work on a stream, its own work and what it has joined, and until when.
 */
#include "interpose/streams/unfinished.h"

#include "common/ticks.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/streams.h"
#include "tests/unit/destroy.h"
#include "track/track.h"
#include "track/track_order.h"

#include <check.h>
#include <stdlib.h>

enum { STREAMS = 8 };

static struct sc_context context;
static struct sc_stream_record records[STREAMS];
static struct sc_stream_record *const legacy = &records[0], *const one = &records[1],
                                      *const two = &records[2], *const three = &records[3];

struct sc_stream_record *sc_streams_of_id(uint32_t id)
{
    for (unsigned i = 0; i < STREAMS; i++)
        if (records[i].id == id)
            return &records[i];
    return NULL;
}

void sc_streams_each_ever(struct sc_context *of, sc_visit_stream *visit, void *argument)
{
    (void)of;
    for (unsigned i = 0; i < STREAMS; i++)
        visit(argument, &records[i]);
}

static void make(struct sc_stream_record *record, enum sc_stream_kind kind)
{
    record->id = sc_track_add_stream(&sc_track, kind, legacy->id, 1 + (uintptr_t)record, 0);
    record->kind = kind;
    record->context = &context;
    sc_unfinished_renew(record);
}

static void set_up(void)
{
    ck_assert_int_eq(sc_track_init(&sc_track), 0);
    make(legacy, SC_STREAM_LEGACY);
    for (unsigned i = 1; i < STREAMS; i++)
        make(&records[i], SC_STREAM_NONBLOCKING);
}

static void tear_down(void)
{
    destroy_track(&sc_track);
}

/* Each test runs with work as calls of all kinds note it, and as simple ones do. */
static void note_work_on(struct sc_stream_record *stream, int is_simple)
{
    if (is_simple && stream->kind == SC_STREAM_NONBLOCKING)
        sc_unfinished_simple_work(stream, 0);
    else
        sc_unfinished_work(stream, 0);
}
#define work_on(stream) note_work_on(stream, _i)

static void host_waits(struct sc_stream_record *stream)
{
    sc_unfinished_stream_done(stream, sc_unfinished_stream_since(stream));
}

static void joins(struct sc_stream_record *stream, struct sc_stream_record *of)
{
    sc_unfinished_join_of(stream, of, sc_unfinished_before_event(of));
}

START_TEST(a_stream_is_clear_until_it_works_and_when_it_was_waited_for)
{
    ck_assert(sc_unfinished_is_clear(one));
    work_on(one);
    ck_assert(!sc_unfinished_is_clear(one));
    ck_assert(sc_unfinished_is_clear(two));
    host_waits(one);
    ck_assert(sc_unfinished_is_clear(one));
}
END_TEST

START_TEST(what_is_joined_is_done_when_the_host_has_waited_where_it_was)
{
    work_on(one);
    joins(two, one);
    ck_assert(!sc_unfinished_is_clear(two));
    host_waits(one);
    ck_assert(sc_unfinished_is_clear(two));
}
END_TEST

START_TEST(what_is_joined_is_done_when_the_host_has_waited_for_who_joined_it)
{
    work_on(one);
    joins(two, one);
    host_waits(two);
    ck_assert(sc_unfinished_is_clear(two));
    ck_assert(!sc_unfinished_is_clear(one));
}
END_TEST

START_TEST(own_work_behind_it_counts)
{
    work_on(one);
    joins(two, one);
    work_on(two);
    host_waits(one);
    ck_assert(!sc_unfinished_is_clear(two));
    host_waits(two);
    ck_assert(sc_unfinished_is_clear(two));
}
END_TEST

START_TEST(work_behind_the_event_brings_nothing)
{
    work_on(one);
    uint64_t before = sc_unfinished_before_event(one);
    work_on(one);
    sc_unfinished_join_of(two, one, before);
    ck_assert(!sc_unfinished_is_clear(two));
    sc_unfinished_stream_done(one, before);
    ck_assert(sc_unfinished_is_clear(two));
    ck_assert(!sc_unfinished_is_clear(one));
}
END_TEST

START_TEST(what_was_joined_by_the_joined_one_comes_along)
{
    work_on(one);
    joins(two, one);
    joins(three, two);
    ck_assert(!sc_unfinished_is_clear(three));
    host_waits(one);
    ck_assert(sc_unfinished_is_clear(two));
    ck_assert(sc_unfinished_is_clear(three));
}
END_TEST

START_TEST(each_of_several_has_to_be_waited_for)
{
    work_on(one);
    work_on(two);
    joins(three, one);
    joins(three, two);
    host_waits(one);
    ck_assert(!sc_unfinished_is_clear(three));
    work_on(one);
    joins(three, one);
    host_waits(two);
    ck_assert(!sc_unfinished_is_clear(three));
    host_waits(one);
    ck_assert(sc_unfinished_is_clear(three));
}
END_TEST

START_TEST(what_finds_no_room_counts_as_own_work)
{
    for (unsigned i = 1; i <= SC_JOINED_MAX + 1; i++) {
        work_on(&records[i]);
        joins(&records[STREAMS - 1], &records[i]);
    }
    for (unsigned i = 1; i <= SC_JOINED_MAX + 1; i++)
        host_waits(&records[i]);
    ck_assert(!sc_unfinished_is_clear(&records[STREAMS - 1]));
    host_waits(&records[STREAMS - 1]);
    ck_assert(sc_unfinished_is_clear(&records[STREAMS - 1]));
}
END_TEST

START_TEST(an_unknown_one_counts_as_own_work)
{
    work_on(one);
    sc_unfinished_join_of(two, NULL, 0);
    sc_unfinished_join_of(three, one, 0);
    host_waits(one);
    ck_assert(!sc_unfinished_is_clear(two));
    ck_assert(!sc_unfinished_is_clear(three));
}
END_TEST

START_TEST(another_stream_in_the_same_record_tells_nothing)
{
    work_on(one);
    joins(two, one);
    sc_unfinished_renew(one);
    host_waits(one);
    ck_assert(!sc_unfinished_is_clear(two));
}
END_TEST

START_TEST(an_event_of_the_stream_that_had_the_record_tells_nothing_of_the_new_one)
{
    enum sc_stream_kind kinds[] = {SC_STREAM_NONBLOCKING, SC_STREAM_BLOCKING};
    struct sc_context other = {0};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int j = 0; j < 100; j++)
            work_on(one);
        uint64_t former = sc_unfinished_before_event(one);
        one->context = &other;
        one->kind = kinds[i];
        sc_unfinished_renew(one);
        work_on(one);
        sc_unfinished_stream_done(one, former);
        ck_assert(!sc_unfinished_is_clear(one));
    }
}
END_TEST

START_TEST(a_blocking_one_behind_the_legacy_stream_is_not_by_itself)
{
    struct sc_stream_record *blocking = &records[4], *other = &records[5];
    make(blocking, SC_STREAM_BLOCKING);
    make(other, SC_STREAM_BLOCKING);
    work_on(other);
    sc_unfinished_legacy(legacy);
    work_on(blocking);
    joins(two, blocking);
    host_waits(blocking);
    ck_assert(!sc_unfinished_is_clear(two));
    host_waits(legacy);
    work_on(blocking);
    joins(three, blocking);
    host_waits(blocking);
    ck_assert(sc_unfinished_is_clear(three));
}
END_TEST

START_TEST(kernels_do_not_write_pageable_memory_and_functions_may)
{
    work_on(one);
    joins(three, one);
    sc_unfinished_host_work(two);
    joins(three, two);
    ck_assert(!sc_unfinished_spares_pageable(three));
    host_waits(two);
    ck_assert(sc_unfinished_spares_pageable(three));
    ck_assert(!sc_unfinished_is_clear(three));
}
END_TEST

START_TEST(a_wait_covers_what_came_before_it_and_nothing_else)
{
    work_on(one);
    uint64_t since = sc_unfinished_stream_since(one);
    sc_unfinished_stream_done(one, since);
    ck_assert(sc_unfinished_is_clear(one));
    since = sc_unfinished_stream_since(one);
    work_on(one);
    sc_unfinished_stream_done(one, since);
    ck_assert(!sc_unfinished_is_clear(one));
    since = sc_unfinished_context_since(&context);
    work_on(two);
    sc_unfinished_context_done(&context, since);
    ck_assert(sc_unfinished_is_clear(one));
    ck_assert(!sc_unfinished_is_clear(two));
}
END_TEST

/* The driver has had what was noted only when its call has returned. */
START_TEST(what_overtakes_a_join_asks_for_another_note)
{
    work_on(two);
    uint64_t noted = sc_unfinished_join_of(one, two, sc_unfinished_before_event(two));
    ck_assert(!sc_unfinished_is_overtaken(one, noted));
    sc_unfinished_stream_since(two);
    ck_assert(!sc_unfinished_is_overtaken(one, noted));
    uint64_t since = sc_unfinished_stream_since(one);
    ck_assert(sc_unfinished_is_overtaken(one, noted));
    noted = sc_unfinished_join_of(one, two, sc_unfinished_before_event(two));
    ck_assert(!sc_unfinished_is_overtaken(one, noted));
    sc_unfinished_stream_done(one, since);
    ck_assert(!sc_unfinished_is_clear(one));
    sc_unfinished_simple_record(one);
    ck_assert(sc_unfinished_is_overtaken(one, noted));
    noted = sc_unfinished_join_of(one, two, sc_unfinished_before_event(two));
    ck_assert(!sc_unfinished_is_overtaken(one, noted));
    since = sc_unfinished_context_since(&context);
    ck_assert(sc_unfinished_is_overtaken(one, noted));
    sc_unfinished_context_done(&context, since);
    ck_assert(sc_unfinished_is_clear(one));
}
END_TEST

START_TEST(a_record_on_a_lone_legacy_stream_has_what_came_before_it)
{
    work_on(one);
    joins(legacy, one);
    ck_assert(sc_unfinished_is_hidden(legacy, false));
    uint64_t before = sc_unfinished_lone_record(legacy);
    ck_assert(!sc_unfinished_is_hidden(legacy, false));
    work_on(legacy);
    uint64_t behind = sc_unfinished_lone_record(legacy);
    sc_unfinished_stream_done(legacy, before);
    ck_assert(!sc_unfinished_is_clear(legacy));
    sc_unfinished_stream_done(legacy, behind);
    ck_assert(sc_unfinished_is_clear(legacy));
}
END_TEST

START_TEST(an_event_covers_what_came_before_it_and_nothing_else)
{
    work_on(one);
    uint64_t first = sc_unfinished_before_event(one);
    work_on(two);
    joins(one, two);
    uint64_t second = sc_unfinished_before_event(one);
    work_on(one);
    uint64_t third = sc_unfinished_before_event(one);
    work_on(one);
    sc_unfinished_stream_done(one, first);
    ck_assert(!sc_unfinished_is_clear(one));
    sc_unfinished_stream_done(one, second);
    ck_assert(!sc_unfinished_is_clear(one));
    sc_unfinished_stream_done(one, third);
    ck_assert(!sc_unfinished_is_clear(one));
    sc_unfinished_stream_done(one, sc_unfinished_before_event(one));
    ck_assert(sc_unfinished_is_clear(one));
}
END_TEST

START_TEST(work_behind_what_its_context_waits_for_is_no_earlier)
{
    work_on(one);
    sc_unfinished_context_waits(&context);
    work_on(one);
    sc_unfinished_stream_done(one, sc_unfinished_gate_ticks(&context) - 1);
    ck_assert(!sc_unfinished_is_clear(one));
    host_waits(one);
    ck_assert(sc_unfinished_is_clear(one));
}
END_TEST

START_TEST(so_is_work_of_a_new_green_context)
{
    struct sc_context green = {.primary = &context};
    struct sc_stream_record *of_green = &records[4];
    make(of_green, SC_STREAM_LEGACY);
    of_green->context = &green;
    sc_unfinished_context_waits(&context);
    sc_unfinished_renew(of_green);
    sc_unfinished_work(of_green, 0);
    sc_unfinished_stream_done(of_green, sc_unfinished_gate_ticks(&green));
    ck_assert(!sc_unfinished_is_clear(of_green));
}
END_TEST

/* A copy on the stream, whose time is the clock's. */
static void copies_on(struct sc_stream_record *stream)
{
    sc_unfinished_queued(stream, sc_ticks());
}

START_TEST(legacy_work_hides_what_its_blocking_streams_have_queued_until_they_queue_again)
{
    struct sc_stream_record *blocking = &records[4];
    make(blocking, SC_STREAM_BLOCKING);
    for (int round = 0; round < 3; round++) {
        copies_on(blocking);
        ck_assert(!sc_unfinished_is_hidden(blocking, /*known=*/true));
        sc_unfinished_queued(legacy, sc_unfinished_work(legacy, 0));
        ck_assert(sc_unfinished_is_hidden(blocking, /*known=*/true));
        ck_assert(!sc_unfinished_is_hidden(legacy, /*known=*/true));
        sc_unfinished_queued(blocking, sc_unfinished_work(blocking, 0));
        ck_assert(!sc_unfinished_is_hidden(blocking, /*known=*/true));
        ck_assert(sc_unfinished_is_hidden(legacy, /*known=*/true));
        copies_on(legacy);
        ck_assert(!sc_unfinished_is_hidden(legacy, /*known=*/true));
        sc_unfinished_written(blocking);
        ck_assert(sc_unfinished_is_hidden(legacy, /*known=*/true));
        ck_assert(!sc_unfinished_is_hidden(legacy, /*known=*/false));
        sc_unfinished_legacy(legacy);
        ck_assert(sc_unfinished_is_hidden(blocking, /*known=*/true));
        host_waits(legacy);
        ck_assert(!sc_unfinished_is_hidden(legacy, /*known=*/true));
        ck_assert(!sc_unfinished_is_hidden(blocking, /*known=*/true));
    }
}
END_TEST

START_TEST(a_wait_for_the_legacy_stream_covers_what_blocking_ones_had_by_then)
{
    struct sc_stream_record *blocking = &records[4];
    make(blocking, SC_STREAM_BLOCKING);
    sc_unfinished_work(blocking, 0);
    sc_unfinished_work(legacy, 0);
    host_waits(legacy);
    ck_assert(sc_unfinished_is_clear(legacy));
    uint64_t since = sc_unfinished_stream_since(legacy);
    sc_unfinished_work(blocking, 0);
    sc_unfinished_stream_done(legacy, since);
    ck_assert(!sc_unfinished_is_clear(legacy));
    ck_assert(!sc_unfinished_is_clear(blocking));
}
END_TEST

START_TEST(an_event_of_the_legacy_stream_has_what_came_before_it)
{
    struct sc_stream_record *blocking = &records[4];
    make(blocking, SC_STREAM_BLOCKING);
    sc_unfinished_work(blocking, 0);
    sc_unfinished_record(legacy);
    uint64_t before = sc_unfinished_before_event(legacy);
    sc_unfinished_work(blocking, 0);
    sc_unfinished_stream_done(legacy, before);
    ck_assert(!sc_unfinished_is_clear(legacy));
    sc_unfinished_record(legacy);
    sc_unfinished_stream_done(legacy, sc_unfinished_before_event(legacy));
    ck_assert(sc_unfinished_is_clear(legacy));
}
END_TEST

START_TEST(legacy_work_behind_a_blocking_stream_that_is_gone_is_later)
{
    struct sc_stream_record *blocking = &records[4];
    make(blocking, SC_STREAM_BLOCKING);
    sc_unfinished_host_work(legacy);
    uint64_t outlived = sc_unfinished_now(blocking);
    ck_assert_uint_lt(sc_unfinished_legacy_ticks(&context), outlived);
    sc_unfinished_legacy(legacy);
    ck_assert_uint_gt(sc_unfinished_legacy_ticks(&context), outlived);
}
END_TEST

int main(void)
{
    TCase *group = tcase_create("unfinished");
    Suite *suite = suite_create("unfinished");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_add_loop_test(group, a_stream_is_clear_until_it_works_and_when_it_was_waited_for, 0, 2);
    tcase_add_loop_test(group, what_is_joined_is_done_when_the_host_has_waited_where_it_was, 0, 2);
    tcase_add_loop_test(group, what_is_joined_is_done_when_the_host_has_waited_for_who_joined_it, 0,
                        2);
    tcase_add_loop_test(group, own_work_behind_it_counts, 0, 2);
    tcase_add_loop_test(group, work_behind_the_event_brings_nothing, 0, 2);
    tcase_add_loop_test(group, what_was_joined_by_the_joined_one_comes_along, 0, 2);
    tcase_add_loop_test(group, each_of_several_has_to_be_waited_for, 0, 2);
    tcase_add_loop_test(group, what_finds_no_room_counts_as_own_work, 0, 2);
    tcase_add_loop_test(group, an_unknown_one_counts_as_own_work, 0, 2);
    tcase_add_loop_test(group, another_stream_in_the_same_record_tells_nothing, 0, 2);
    tcase_add_loop_test(
        group, an_event_of_the_stream_that_had_the_record_tells_nothing_of_the_new_one, 0, 2);
    tcase_add_loop_test(group, a_blocking_one_behind_the_legacy_stream_is_not_by_itself, 0, 2);
    tcase_add_loop_test(group, kernels_do_not_write_pageable_memory_and_functions_may, 0, 2);
    tcase_add_loop_test(group, a_wait_covers_what_came_before_it_and_nothing_else, 0, 2);
    tcase_add_loop_test(group, what_overtakes_a_join_asks_for_another_note, 0, 2);
    tcase_add_loop_test(group, a_record_on_a_lone_legacy_stream_has_what_came_before_it, 0, 2);
    tcase_add_loop_test(group, an_event_covers_what_came_before_it_and_nothing_else, 0, 2);
    tcase_add_loop_test(group, work_behind_what_its_context_waits_for_is_no_earlier, 0, 2);
    tcase_add_test(group,
                   legacy_work_hides_what_its_blocking_streams_have_queued_until_they_queue_again);
    tcase_add_test(group, so_is_work_of_a_new_green_context);
    tcase_add_test(group, a_wait_for_the_legacy_stream_covers_what_blocking_ones_had_by_then);
    tcase_add_test(group, an_event_of_the_legacy_stream_has_what_came_before_it);
    tcase_add_test(group, legacy_work_behind_a_blocking_stream_that_is_gone_is_later);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
